"""Reading a page in a browser."""

from types import SimpleNamespace


def table(page, where="#results"):
    """What stands behind the cells of a table, row by row."""
    cells = "Object.fromEntries([...row.cells].map((cell) => [cell.dataset.column, cell.dataset.value]))"
    return page.locator(f"{where} tbody tr").evaluate_all(f"(rows) => rows.map((row) => {cells})")


FACTS = """(node) => ({
    traces: node.data.map(({ x, y, z, name, fill, line, marker }) => ({ x, y, z, name, fill, line, marker })),
    kind: node.layout.xaxis.type, axis: node.layout.yaxis.title?.text, title: node.layout.title?.text,
    hover: node.layout.hovermode,
    texts: node.layout.annotations?.map((each) => each.text) })"""


def plot(page, selector):
    """Traces, axes and texts of a plot, once it is drawn."""
    node = page.locator(selector).first
    node.scroll_into_view_if_needed()
    page.wait_for_function("(node) => node.dataset.drawn === 'yes'", arg=node.element_handle())
    return SimpleNamespace(**node.evaluate(FACTS))
