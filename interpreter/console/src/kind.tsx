/** The page of one kind: its definition, what was compared with real controllers, its examples. */

import { useEffect, useState } from "preact/hooks";
import { type Example, get, type Json, type Kind, type Row } from "./api";
import { prose } from "./prose";
import { Table } from "./table";
import type { Opened } from "./workbench";

const FIELDS: [string, string][] = [
  ["kind", "kind"],
  ["ownerRef", "part of"],
  ["instances", "one for each"],
  ["pods", "pods"],
  ["addedContainers", "operator adds"],
  ["replicas", "replicas"],
  ["minReplicas", "at least"],
  ["maxReplicas", "at most"],
];

export function KindPage(props: { path: string; rows: Row[]; open: (what: Opened) => void; go: (to: string) => void }) {
  const [kind, setKind] = useState<Kind | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    get<Kind>(`/api/kinds/${props.path}`).then(setKind, (failure) => setError(failure.message));
  }, [props.path]);
  if (error) {
    const name = props.path.split("/").at(-1)?.toLowerCase();
    const meant = props.rows.filter((row) => row.kind.toLowerCase() === name).map((row) => `${row.apiVersion}/${row.kind}`);
    return (
      <p class="empty" role="alert">
        <code>{props.path}</code>: {error}.{" "}
        {meant.map((each) => (
          <>
            <a href={`/catalogue/${each}`}>{each}</a>,{" "}
          </>
        ))}
        <a href="/catalogue">all kinds</a>
      </p>
    );
  }
  if (!kind) return <p class="quiet pad">Loading …</p>;
  const lists: [string, string[]][] = [
    ["healthy", kind.healthy],
    ["elastic", kind.indivisible ? ["none: ReviseReplica keeps the number of pods"] : []],
    ["retains", kind.retain],
    ["queued by", kind.queueLabels],
    ["dependencies", kind.dependencies],
    ["looks up", kind.references],
    ["suspend", kind.suspend],
    ["resume", kind.resume],
    ["gang", kind.gangScheduling],
    ["scripts", kind.scripts],
  ];
  return (
    <div class="page">
      <div class="page-head">
        <h1>
          {kind.kind} <span class="quiet">{kind.apiVersion}</span>
        </h1>
        <span class="grow" />
        <button type="button" class="primary" onClick={() => props.open({ kind })}>
          Open in the workbench
        </button>
      </div>
      <p class="quiet">
        {kind.definition} from {kind.origin}
        {kind.writtenFrom ? `, written from ${kind.writtenFrom}` : ""}
      </p>
      <div class="columns">
        <section class="card" aria-labelledby="operations-title">
          <h2 id="operations-title">Operations</h2>
          <p class="chips">
            {kind.operations.map((operation) => (
              <span class="chip strong">{operation}</span>
            ))}
          </p>
          {kind.gate ? <p class="quiet">with MultiplePodTemplatesScheduling {kind.gate}</p> : null}
          <dl>
            {lists
              .filter(([, values]) => values.length)
              .map(([name, values]) => (
                <div>
                  <dt>{name}</dt>
                  <dd>{values.map((value) => <code>{value}</code>)}</dd>
                </div>
              ))}
          </dl>
        </section>
        <section class="card" aria-labelledby="compared-title">
          <h2 id="compared-title">Compared with real controllers</h2>
          {kind.compared.length ? <Compared kind={kind} /> : <p class="quiet">Nothing was compared with a real controller.</p>}
        </section>
        <section class="card" aria-labelledby="components-title">
          <h2 id="components-title">Components</h2>
          {kind.components.map((component) => (
            <Part component={component} />
          ))}
        </section>
        <section class="card" aria-labelledby="statuses-title">
          <h2 id="statuses-title">Statuses</h2>
          <dl>
            {kind.statuses.map(({ status, when }, index) => (
              <div>
                <dt>{kind.statuses[index - 1]?.status === status ? "" : status}</dt>
                <dd>
                  <code>{when}</code>
                </dd>
              </div>
            ))}
          </dl>
        </section>
        <section class="card" aria-labelledby="examples-title">
          <h2 id="examples-title">{kind.examples.length} examples</h2>
          <ul class="examples">
            {kind.examples.map((example) => (
              <li>
                <ExampleButton example={example} open={() => props.open({ kind, example })} />
              </li>
            ))}
          </ul>
        </section>
        <section class="card" aria-labelledby="text-title">
          <h2 id="text-title">Karta</h2>
          <pre class="source" tabIndex={0}>{kind.text}</pre>
        </section>
      </div>
    </div>
  );
}

function ExampleButton({ example, open }: { example: Example; open: () => void }) {
  return (
    <button type="button" class="example" onClick={open}>
      <span class="rule">{example.operation}</span>
      <span>
        <strong>{example.name}</strong>
        <span class="quiet"> {prose(example.description)}</span>
      </span>
    </button>
  );
}

function Compared({ kind }: { kind: Kind }) {
  const rows = kind.compared.map((each) => [
    each.controller,
    each.cases,
    each.comparisons,
    Object.entries(each.subjects)
      .map(([name, number]) => `${name} ${number}`)
      .join(", "),
    each.accepted || "none",
  ]);
  return <Table label="Comparisons" columns={["controller", "cases", "comparisons", "of what", "accepted differences"]} rows={rows} />;
}

function Part({ component }: { component: Record<string, Json> }) {
  const rows = FIELDS.flatMap(([field, name]) => {
    const value = component[field];
    if (!value) return [];
    return typeof value === "object" ? Object.entries(value).map(([key, text]) => [name, `${key}: ${text}`]) : [[name, String(value)]];
  });
  return (
    <>
      <h3>
        {String(component.name)} {component.elastic ? <span class="chip">elastic</span> : null}
      </h3>
      <dl>
        {rows.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>
              <code>{value}</code>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
