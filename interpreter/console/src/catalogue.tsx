/** The catalogue: all kinds that are interpreted, with a search. */

import { useMemo, useState } from "preact/hooks";
import type { Row } from "./api";

const MOST = 200;

export function CataloguePage({ rows, go }: { rows: Row[]; go: (to: string) => void }) {
  const [search, setSearch] = useState("");
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return rows.filter((row) => {
      const text = [row.kind, row.apiVersion, row.definition, row.origin, row.writtenFrom, ...row.components].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [rows, search]);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Catalogue</h1>
        <input
          type="search"
          aria-label="Search kinds"
          placeholder="Search kind, group, controller, component"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <span class="quiet" role="status">
          {found.length} of {rows.length} kinds
        </span>
      </div>
      <ul class="kinds">
        {found.slice(0, MOST).map((row) => {
          const to = `/catalogue/${row.apiVersion}/${row.kind}`;
          return (
            <li>
              <a
                href={to}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  go(to);
                }}
              >
                <span class="kind-name">
                  <strong>{row.kind}</strong>
                  <span class="quiet">{row.apiVersion}</span>
                </span>
                <span class="kind-from">{row.writtenFrom || row.origin}</span>
                <span class="kind-facts">
                  <span class="chip">{row.operations.length} operations</span>
                  {row.compared ? <span class="chip good">{row.compared} comparisons</span> : null}
                  {row.scripts.length ? <span class="chip warn">scripts</span> : null}
                  {row.origin === "catalogue" ? null : <span class="chip strong">{row.origin.split("/").at(-1)}</span>}
                </span>
              </a>
            </li>
          );
        })}
      </ul>
      {found.length > MOST ? <p class="quiet">Search to see the other {found.length - MOST}.</p> : null}
    </div>
  );
}
