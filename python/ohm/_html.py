"""Tables for notebooks."""
from __future__ import annotations

import html
from typing import Any, Iterable, Sequence


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """Everything is escaped."""
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
                   for row in rows)
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def preformatted(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"
