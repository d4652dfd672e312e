"""Make docs/pictures: the page of a folder in a real browser, and a figure, small enough for a README.

make pictures
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from aapi.report.figures import write_figures
from aapi.report.folder import write_pages

HERE = Path(__file__).parent / "pictures"
WIDTH = 880


def main(folder: str) -> None:
    """Take all pictures."""
    HERE.mkdir(exist_ok=True)
    path, _ = write_pages(folder)
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("pictures need Chromium (Debian: apt install chromium)")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1240, "height": 1000}, color_scheme=scheme)
            page.goto(path.resolve().as_uri())
            page.wait_for_selector("#loading", state="hidden")
            if scheme == "light":
                save("short", page.screenshot(clip={"x": 0, "y": 0, "width": 1240, "height": 760}))
                save("inside", inside(page, "deep-sea 20", "temperature", ["aapi-paper", "politex"]))
                save("cartpole", inside(page, "cartpole", "policy right", ["aapi-paper", "rlsvi"]))
            else:
                save("curves-dark", curves(page, "deep-sea"))
        browser.close()
    with tempfile.TemporaryDirectory() as figures:
        write_figures(folder, figures, formats=["png"], widths=["two-column"])
        save("figure", (Path(figures) / "deep-sea-curves-two-column.png").read_bytes())
        save("reward-scale", (Path(figures) / "reward-scale-two-column.png").read_bytes())


def inside(page: Page, problem: str, quantity: str, algorithms: list[str]) -> bytes:
    """The maps of two algorithms in the middle of their runs."""
    page.select_option("#inside-problem", problem)
    for side, algorithm in zip(("left", "right"), algorithms, strict=True):
        page.select_option(f"#inside-{side}", algorithm)
    page.click(f"#quantity button[data-value='{quantity}']")
    page.click("#maps button[data-value=both]")
    return section(page, "#inside", ["#left-map", "#right-map", "#trace"])


def curves(page: Page, study: str) -> bytes:
    """The learning curves of a study, over logarithmic steps."""
    page.locator("#studies button", has_text=study).first.click()
    page.locator("#scale button", has_text="log").click()
    return section(page, "#curves", ["#panels .plot >> nth=0", "#panels .plot >> nth=-1"])


def section(page: Page, selector: str, plots: list[str]) -> bytes:
    """A section with its plots drawn, without the page's head on top of it."""
    page.add_style_tag(content="header { position: static !important; }")
    for plot in plots:
        page.locator(plot).scroll_into_view_if_needed()
        page.wait_for_function("(node) => node.dataset.drawn === 'yes'", arg=page.locator(plot).element_handle())
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    return page.locator(selector).screenshot()


def save(name: str, picture: bytes) -> None:
    """Scaled down, with few colours: a page of documentation should not weigh megabytes."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    if image.width > WIDTH:
        image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    path = HERE / f"{name}.png"
    image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(HERE.parent)}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main(*sys.argv[1:])
