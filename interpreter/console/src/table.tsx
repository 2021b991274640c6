/** A table whose rows become lists of labelled values on a small screen. */

import type { ComponentChildren } from "preact";

/** A column that begins with # holds numbers. The first cell of a row is its heading. */
export function Table({ label, columns, rows }: { label: string; columns: string[]; rows: ComponentChildren[][] }) {
  const titles = columns.map((column) => column.replace(/^#/, ""));
  const look = (index: number) => (columns[index]?.startsWith("#") ? "number" : undefined);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="stacked">
        <thead>
          <tr>
            {titles.map((title, index) => (
              <th scope="col" class={look(index)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([heading, ...cells]) => (
            <tr>
              <th scope="row">{heading}</th>
              {cells.map((cell, index) => (
                <td class={look(index + 1)} data-label={titles[index + 1]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
