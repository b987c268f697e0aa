"""The words of every picture: the commanded goal and how far the agent has got."""

from PIL import Image, ImageDraw, ImageFont

from allgoals.render.episode import Episode

PAPER = (250, 249, 246)
INK = (46, 52, 64)
FAINT_INK = (122, 128, 138)
SUCCESS = (56, 152, 100)

NAME_SIZES = range(20, 11, -1)
STATUS_SIZE = 14
LINE_SPACING = 22


def status(episode: Episode, t: int) -> str:
    """How far the episode has got after `t` actions."""
    steps = "1 step" if t == 1 else f"{t} steps"
    if t == episode.success_step:
        return f"reached in {steps}"
    if t == len(episode.actions):
        return f"not reached in {steps}"
    return f"step {t}"


def fitted(text: str, width: int) -> tuple[str, ImageFont.FreeTypeFont]:
    """The text in the largest font in which it fits; cut short if it fits in none."""
    for size in NAME_SIZES:
        font = ImageFont.load_default(size)
        if font.getlength(text) <= width:
            return text, font
    while font.getlength(text + "...") > width:
        text = text[:-1]
    return text + "...", font


def write_caption(
    picture: Image.Image,
    at: tuple[float, float],
    name: tuple[str, ImageFont.FreeTypeFont],
    line: str,
    colour: tuple,
) -> None:
    """A fitted name that begins `at` a point, and a coloured line below it."""
    left, middle = at
    text, font = name
    below = (left, middle + LINE_SPACING)
    pen = ImageDraw.Draw(picture)
    pen.text(at, text, INK, font, anchor="lm")
    pen.text(below, line, colour, ImageFont.load_default(STATUS_SIZE), anchor="lm")
