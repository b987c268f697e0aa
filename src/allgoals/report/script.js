"use strict";

const byText = new Intl.Collator(undefined, { numeric: true }).compare;

function cellText(row, column) {
  return row.cells[column].textContent;
}

function sortRows(table, heading) {
  const column = heading.cellIndex;
  const direction = heading.ariaSort === "ascending" ? -1 : 1;
  for (const other of heading.parentNode.cells) other.ariaSort = "none";
  heading.ariaSort = direction === 1 ? "ascending" : "descending";
  for (const body of table.querySelectorAll("tbody.rows")) {
    const rows = [...body.rows];
    rows.sort((a, b) => direction * byText(cellText(a, column), cellText(b, column)));
    body.append(...rows);
  }
}

function filterRows(table, words, output) {
  const rows = [...table.querySelectorAll("tbody.rows tr")];
  for (const row of rows) row.hidden = !cellText(row, 0).toLowerCase().includes(words.toLowerCase());
  const shown = rows.filter((row) => !row.hidden).length;
  output.textContent = words ? `${shown} of ${rows.length} goals` : `${rows.length} goals`;
}

function goalTable(place) {
  const table = place.querySelector("table");
  const input = place.querySelector("input");
  for (const heading of table.tHead.rows[0].cells) {
    heading.querySelector("button").addEventListener("click", () => sortRows(table, heading));
  }
  input.addEventListener("input", () => filterRows(table, input.value, place.querySelector("output")));
}

function valueMap(figure) {
  const svg = figure.querySelector(".grid");
  const cells = [...svg.querySelectorAll(".cell")];
  const places = cells.map((cell) => [+cell.getAttribute("x"), +cell.getAttribute("y")]);
  const indexAt = new Map(places.map((place, i) => [String(place), i]));
  const here = svg.querySelector(".here");
  const colours = document.body.dataset.colours.split(" ");
  const goals = JSON.parse(figure.dataset.goals);
  const levels = Uint8Array.from(atob(figure.dataset.levels), (letter) => letter.charCodeAt(0));
  const [low, high] = [+figure.dataset.low, +figure.dataset.high];
  let pinned = indexAt.get(String([here.getAttribute("x"), here.getAttribute("y")]));

  function show(from) {
    const row = levels.subarray(from * goals.length, (from + 1) * goals.length);
    goals.forEach((cell, goal) => cells[cell].setAttribute("fill", colours[row[goal]]));
    const [x, y] = places[from];
    here.setAttribute("x", x);
    here.setAttribute("y", y);
    const mean = low + ((high - low) * row.reduce((a, b) => a + b, 0)) / (255 * goals.length);
    figure.querySelector(".readout").textContent = `From (${x}, ${y}): mean value ${mean.toFixed(2)}.`;
  }

  function pin(from) {
    pinned = from;
    show(from);
  }

  function move(dx, dy) {
    let [x, y] = places[pinned];
    for (let i = 0; i < cells.length; i++) {
      [x, y] = [x + dx, y + dy];
      if (indexAt.has(String([x, y]))) return pin(indexAt.get(String([x, y])));
    }
  }

  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  svg.addEventListener("keydown", (event) => {
    if (!moves[event.key]) return;
    event.preventDefault();
    move(...moves[event.key]);
  });
  cells.forEach((cell, i) => cell.addEventListener("pointerenter", () => show(i)));
  cells.forEach((cell, i) => cell.addEventListener("click", () => pin(i)));
  svg.addEventListener("pointerleave", () => show(pinned));
  svg.setAttribute("tabindex", "0");
  figure.querySelector(".hint").hidden = false;
  show(pinned);
}

document.querySelectorAll(".goals").forEach(goalTable);
document.querySelectorAll(".values[data-levels]").forEach(valueMap);
