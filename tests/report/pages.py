"""A page taken apart."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The tables of a page as text, and every attribute in it."""

    def __init__(self, text: str):
        super().__init__()
        self.tables, self.attributes, self.tags = [], [], []
        self._cell = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self._cell = ""

    def handle_data(self, data):
        if self._cell is not None:
            self._cell += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append(" ".join(self._cell.split()))
            self._cell = None
