import assert from "node:assert/strict";
import test from "node:test";
import * as format from "../../../src/aapi/report/assets/format.js";

test("numbers have a minus sign, and no minus zero", () => {
  assert.equal(format.formatSignificant(-0.123456, 3), "−0.123");
  assert.equal(format.formatSignificant(null, 3), "");
  assert.equal(format.formatDecimal(-0.034), "−0.03");
  assert.equal(format.formatDecimal(-0.001), "0.00");
  assert.equal(format.formatPercent(0.98765), "98.8%");
  assert.equal(format.formatPercent(-0.5), "−50.0%");
  assert.equal(format.formatCount(-12345.6), "−12,346");
});

test("numbers of any size are short", () => {
  assert.deepEqual([0.12345, 999, 12345, -2.5e12, null].map(format.formatNumber), [
    "0.123",
    "999",
    "12,345",
    "−2.50e12",
    "?",
  ]);
});

test("durations are in seconds, minutes or hours", () => {
  assert.deepEqual([0.2, 89, 95, 1200, 9000].map(format.formatDuration), [
    "1 s",
    "89 s",
    "1.6 minutes",
    "20 minutes",
    "2.5 hours",
  ]);
});

test("words", () => {
  assert.equal(format.plural(1, "run"), "1 run");
  assert.equal(format.plural(0, "run"), "0 runs");
  assert.equal(format.titleOf({ problem: "ergodic", reward_scale: 1 }), "ergodic");
  assert.equal(format.titleOf({ problem: "ergodic", reward_scale: 0.01 }), "ergodic, rewards × 0.01");
  assert.equal(format.escapeMarkup("<b> & $x$"), "&lt;b&gt; &amp; &#36;x&#36;");
  assert.equal(format.withOpacity("#0072b2", 0.15), "rgba(0, 114, 178, 0.15)");
  assert.deepEqual(format.distinct([1, 2, 1]), [1, 2]);
});
