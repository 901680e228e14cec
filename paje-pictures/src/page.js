"use strict";
// A click on a column's name sorts by it: numbers descending, names ascending. A second click reverses the
// order.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const table = head.closest("table");
    const place = [...head.parentElement.children].indexOf(head);
    const number = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const ascending = before ? before === "descending" : !number;
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const names = new Intl.Collator(undefined, { numeric: true });
    const key = (row) => row.children[place].dataset.v;
    const text = (row) => row.children[place].textContent;
    const compare = (a, b) => {
      const [one, other] = [key(a), key(b)];
      // Cells without a number are always last.
      if (number) {
        if (one === undefined || other === undefined) return (one === undefined) - (other === undefined);
        return ascending ? one - other : other - one;
      }
      return ascending ? names.compare(text(a), text(b)) : names.compare(text(b), text(a));
    };
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort(compare));
  });
}
