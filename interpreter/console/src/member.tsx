/** The member page: what `verify` says about a saved folder. */

import { useEffect, useState } from "preact/hooks";
import { get, type Member } from "./api";
import { prose } from "./prose";
import { Table } from "./table";

const MOST = 500;
const RANKS = ["differs", "unjudged", "ok"];
const LOOKS: Record<string, string> = { ok: "chip good", differs: "chip bad", unjudged: "chip warn" };

export function MemberPage() {
  const [page, setPage] = useState<Member | null>(null);
  const [error, setError] = useState("");
  useEffect(() => void get<Member | null>("/api/member").then(setPage, (failure) => setError(failure.message)), []);
  if (!page) return <p class="quiet pad">{error || prose("`karta-interpreter console --from FOLDER` shows a folder that `verify --save` wrote.")}</p>;
  const results = page.results.toSorted((one, other) => RANKS.indexOf(one.verdict) - RANKS.indexOf(other.verdict));
  return (
    <div class="page">
      <div class="page-head">
        <h1>Member</h1>
        {page.problems.map((problem) => (
          <span class="chip bad">{problem}</span>
        ))}
      </div>
      <section class="card" aria-labelledby="kinds-title">
        <h2 id="kinds-title">Kinds: {page.kinds.length}</h2>
        <Table
          label="Kinds"
          columns={["kind", "version", "#objects", "#ok", "#differs", "#unjudged"]}
          rows={page.kinds.map((each) => [each.kind, each.apiVersion, each.objects, each.ok, each.differs, each.unjudged])}
        />
      </section>
      <section class="card" aria-labelledby="causes-title">
        <h2 id="causes-title">Causes of differences: {page.causes.length}</h2>
        <Table
          label="Causes of differences"
          columns={["kind", "#objects", "operation", "why", "field", "line or step that ends it"]}
          rows={page.causes.map((each) => [
            each.kind,
            `${each.objects.length} of ${each.of}`,
            each.question,
            prose(each.reason ?? ""),
            each.field,
            prose(each.fix ?? ""),
          ])}
        />
      </section>
      <section class="card" aria-labelledby="results-title">
        <h2 id="results-title">
          Results: {results.length}
          {results.length > MOST ? `, of which ${MOST} are shown` : ""}
        </h2>
        <Table
          label="Results"
          columns={["object", "kind", "operation", "result", "why"]}
          rows={results.slice(0, MOST).map((each) => [
            each.object || "the CRD",
            each.kind,
            each.question,
            <span class={LOOKS[each.verdict]}>{each.verdict}</span>,
            prose([each.reason, each.detail].filter(Boolean).join(": ")),
          ])}
        />
      </section>
    </div>
  );
}
