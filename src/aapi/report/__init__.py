"""Reports of stored results: closing tables, Markdown, the page and its live server, figures for print."""
