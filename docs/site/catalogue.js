// A field above the table of the catalogue: only rows with every word of it stay visible.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("article table");
  const field = document.createElement("input");
  field.type = "search";
  field.className = "catalogue-filter";
  field.placeholder = "Filter by kind, group, project or component: ray, kruise suspend, kubeflow gang …";
  field.setAttribute("aria-label", "Filter the catalogue");
  const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.toLowerCase());
  const rows = [...table.querySelectorAll("tbody tr")].map((row) => [
    row,
    [...row.cells].map((cell, at) => (cell.textContent.trim() === "yes" ? names[at] : cell.textContent)).join(" ").toLowerCase(),
  ]);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const [row, text] of rows) row.hidden = !words.every((word) => text.includes(word));
  });
  (table.closest(".pst-scrollable-table-container") ?? table).before(field);
});
