/** The catalogue: all kinds that are interpreted, with a search and filters. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { inAddress, toAddress } from "./address";
import type { Row } from "./api";

const MOST = 200;

export function CataloguePage({ rows, go }: { rows: Row[]; go: (to: string) => void }) {
  const [search, setSearch] = useState(inAddress("search"));
  const [group, setGroup] = useState(inAddress("group"));
  const [operation, setOperation] = useState(inAddress("operation"));
  useEffect(() => toAddress({ search, group, operation }), [search, group, operation]);
  const groups = useMemo(() => unique(rows.map(groupOf)), [rows]);
  const operations = useMemo(() => unique(rows.flatMap(askedOf)), [rows]);
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return rows.filter((row) => {
      const text = [row.kind, row.apiVersion, row.definition, row.origin, row.writtenFrom, ...row.components].join(" ").toLowerCase();
      const isChosen = (!group || groupOf(row) === group) && (!operation || askedOf(row).includes(operation));
      return isChosen && words.every((word) => text.includes(word));
    });
  }, [rows, search, group, operation]);
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
        <Filter name="Group" all="All groups" values={groups} value={group} choose={setGroup} />
        <Filter name="Operation" all="All operations" values={operations} value={operation} choose={setOperation} />
        <span class="quiet" role="status">
          {found.length} of {rows.length} kinds
        </span>
      </div>
      <table class="kinds stacked" hidden={!found.length}>
        <thead>
          <tr>
            <th scope="col">kind</th>
            <th scope="col">version</th>
            <th scope="col">written from</th>
            <th scope="col" class="number">operations</th>
            <th scope="col" class="number">comparisons</th>
          </tr>
        </thead>
        <tbody>
          {found.slice(0, MOST).map((row) => (
            <Kind row={row} go={go} />
          ))}
        </tbody>
      </table>
      {found.length ? null : <p class="empty">No kind has all of this.</p>}
      {found.length > MOST ? <p class="quiet">Search to see the other {found.length - MOST}.</p> : null}
    </div>
  );
}

function Kind({ row, go }: { row: Row; go: (to: string) => void }) {
  const to = `/catalogue/${row.apiVersion}/${row.kind}`;
  return (
    <tr
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go(to);
      }}
    >
      <th scope="row">
        <a href={to}>{row.kind}</a>
        {row.scripts.length ? <span class="chip warn">scripts</span> : null}
        {row.origin === "catalogue" ? null : <span class="chip strong">{row.origin.split("/").at(-1)}</span>}
      </th>
      <td data-label="version">{row.apiVersion}</td>
      <td data-label="written from">{row.writtenFrom || row.origin}</td>
      <td data-label="operations" class="number">{row.operations.length}</td>
      <td data-label="comparisons" class="number">{row.compared || "–"}</td>
    </tr>
  );
}

function Filter(props: { name: string; all: string; values: string[]; value: string; choose: (value: string) => void }) {
  return (
    <select aria-label={props.name} value={props.value} onChange={(event) => props.choose(event.currentTarget.value)}>
      <option value="">{props.all}</option>
      {props.values.map((value) => (
        <option value={value}>{value}</option>
      ))}
    </select>
  );
}

function groupOf(row: Row): string {
  const [group = "", version] = row.apiVersion.split("/");
  return version ? group : "core";
}

/** The operations of a kind, with or without Karmada's feature gate MultiplePodTemplatesScheduling. */
function askedOf(row: Row): string[] {
  return [...row.operations, ...row.operationsWithMultiplePodTemplatesScheduling];
}

function unique(values: string[]): string[] {
  return [...new Set(values)].sort();
}
