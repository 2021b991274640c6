/** The server page: what is served from where, what is quarantined, the calls of the last hour. */

import { useEffect, useState } from "preact/hooks";
import { type Finding, get, type ServerPage as Page } from "./api";
import { prose } from "./prose";
import { Table } from "./table";

const EVERY = 5000;

export function ServerPage({ hasServer }: { hasServer: boolean }) {
  const [page, setPage] = useState<Page | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    const load = () =>
      get<Page>("/api/server").then(
        (found) => {
          setPage(found);
          setError("");
        },
        (failure) => setError(failure.message),
      );
    void load();
    const timer = setInterval(load, EVERY);
    return () => clearInterval(timer);
  }, []);
  if (!page) return <p class="quiet pad">{error || "Loading …"}</p>;
  const kinds = page.origins.reduce((sum, { kinds: number }) => sum + number, 0);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Server</h1>
        <span class="quiet">
          karta-interpreter {page.version}
          {hasServer ? `, generation ${page.generation} of the definitions` : ""}
        </span>
        {error ? <span class="chip bad">{error}</span> : null}
      </div>
      <div class="columns">
        <section class="card" aria-labelledby="served-title">
          <h2 id="served-title">Served: {kinds} kinds</h2>
          <dl>
            {page.origins.map(({ origin, kinds: number }) => (
              <div>
                <dt>{number}</dt>
                <dd>{origin}</dd>
              </div>
            ))}
          </dl>
          {page.conflicts.length ? <FindingList title="Conflicts" findings={page.conflicts} /> : null}
        </section>
        <section class="card" aria-labelledby="registration-title">
          <h2 id="registration-title">Registration</h2>
          <p>
            {page.inStep === null ? (
              <span class="chip">this {hasServer ? "server" : "console"} does not register</span>
            ) : page.inStep ? (
              <span class="chip good">in step with the definitions</span>
            ) : (
              <span class="chip bad">not in step</span>
            )}
          </p>
        </section>
        <section class="card" aria-labelledby="quarantined-title">
          <h2 id="quarantined-title">Quarantined: {page.quarantined.length}</h2>
          {page.quarantined.length ? null : <p class="quiet">Every definition can be used.</p>}
          {page.quarantined.map((broken) => (
            <FindingList
              title={broken.name ? `${broken.name} (${broken.source})` : broken.source}
              note={broken.servingLastGood ? "its last good version is served" : broken.inPart ? "a part of it is served" : ""}
              findings={broken.findings}
            />
          ))}
        </section>
        {page.fights.length ? (
          <section class="card wide" aria-labelledby="fights-title">
            <h2 id="fights-title">Overwritten in turns by Karmada and a manager in a member: {page.fights.length}</h2>
            <Fights fights={page.fights} />
          </section>
        ) : null}
        <section class="card wide" aria-labelledby="calls-title">
          <h2 id="calls-title">Calls of the last hour</h2>
          {page.lastHour ? <Calls hour={page.lastHour} /> : <p class="quiet">{prose("There is no server next to this console: `serve --console-port` shows its calls.")}</p>}
        </section>
      </div>
    </div>
  );
}

function FindingList({ title, note, findings }: { title: string; note?: string; findings: Finding[] }) {
  return (
    <>
      <h3>
        {title} {note ? <span class="chip warn">{note}</span> : null}
      </h3>
      <ul class="plain-list">
        {findings.map((finding) => (
          <li class={finding.severity}>
            {finding.line ? <span class="where">{finding.line}:{finding.column} </span> : null}
            {finding.path ? `${finding.path}: ` : ""}
            {prose(finding.message)} {finding.hint ? <span class="quiet">{prose(finding.hint)}</span> : null}
          </li>
        ))}
      </ul>
    </>
  );
}

function Fights({ fights }: { fights: Page["fights"] }) {
  const columns = ["object", "cluster", "field", "Karmada", "member", "manager", "since", "remedy", "other fields that differ"];
  const rows = fights.map((each) => [
    `${each.kind} ${each.namespace}/${each.name}`,
    each.cluster,
    each.field,
    each.ours,
    each.theirs,
    each.manager,
    time(each.begin),
    prose(each.remedy || "none"),
    each.others.join(" "),
  ]);
  return <Table label="Fields that are overwritten in turns" columns={columns} rows={rows} />;
}

function time(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString();
}

/** What makes a meter red: every value is far from the optimum. */
const FAILING = { low: 0.001, high: 0.002, optimum: 0 };

function Calls({ hour }: { hour: NonNullable<Page["lastHour"]> }) {
  const minutes = Math.max(1, Math.round(hour.seconds / 60));
  if (!hour.calls.length) return <p class="quiet">No call in the last {minutes} min.</p>;
  const most = Math.max(...hour.calls.map((each) => each.calls));
  const quantile = (value: number | null) => (value === null ? "over 2500" : `≤ ${value}`);
  const calls = hour.calls.map((each) => [
    each.kind,
    each.operation,
    <>
      {each.calls} <meter min={0} max={most} value={each.calls} aria-hidden="true" {...(each.errors ? FAILING : {})} />
    </>,
    <span class={each.errors ? "bad-text" : undefined}>{each.errors}</span>,
    each.meanMilliseconds,
    each.slow,
  ]);
  const operations = hour.operations.map((each) => [each.operation, quantile(each.p50), quantile(each.p99)]);
  return (
    <>
      <p class="quiet">The last {minutes} min; mean latency of each kind, quantiles of each operation.</p>
      <Table label="Calls by kind and operation" columns={["kind", "operation", "#calls", "#errors", "#mean ms", "#slow"]} rows={calls} />
      <Table label="Latency by operation" columns={["operation", "#median ms", "#99 % ms"]} rows={operations} />
    </>
  );
}
