/** The components of the workload, drawn as a tree. */

import { prose } from "./prose";
import type { Component, Fact, Instance, Page } from "./api";

const MOST_REPLICAS = 2 ** 31 - 1;

type Show = (facts: Fact[]) => void;

export function Tree({ page, hover, pin }: { page: Page; hover: Show; pin: Show }) {
  const { tree } = page;
  if (!tree?.root) {
    return tree?.error ? (
      <article class="card">
        <h3>Components</h3>
        <p class="error-text">{prose(tree.error)}</p>
      </article>
    ) : null;
  }
  const facts = page.answers.filter(({ operation }) => operation === "InterpretReplica").flatMap((answer) => answer.facts);
  const shown = { facts, hover, pin };
  return (
    <article class="card" aria-labelledby="tree-title">
      <header>
        <h3 id="tree-title">Components</h3>
        {tree.status?.map((status) => <span class={`chip status-${status.toLowerCase()}`}>{status}</span>)}
      </header>
      <ul class="tree">
        <Node component={tree.root} {...shown} />
      </ul>
      {tree.groups?.map((group) => (
        <p class="quiet group">
          <strong>Group {group.name}</strong>: {group.members.join(", ")}
          {group.minimum === undefined ? null : `, at least ${group.minimum} together`}
          {group.groupBy.length ? (
            <>
              , by <code>{group.groupBy.join(", ")}</code>
            </>
          ) : null}
        </p>
      ))}
    </article>
  );
}

interface Shown {
  facts: Fact[];
  hover: Show;
  pin: Show;
}

function Node({ component, ...shown }: { component: Component } & Shown) {
  const [only, ...others] = component.instances;
  const single = only && !others.length && !only.instanceKey ? only : null;
  const children = component.children ?? [];
  const facts = shown.facts.filter((fact) => fact.component === component.name);
  return (
    <li>
      <Box
        name={component.name}
        kind={component.kind?.kind ?? ""}
        hasPods={component.hasPodDefinition}
        instance={single}
        isEmpty={!component.instances.length}
        own={facts}
        shown={shown}
      />
      {(!single && component.instances.length) || children.length ? (
        <ul>
          {single
            ? null
            : component.instances.map((each) => (
                <li>
                  <Box
                    name={each.instanceKey ?? ""}
                    kind=""
                    hasPods={component.hasPodDefinition}
                    instance={each}
                    isEmpty={false}
                    own={facts.filter((fact) => fact.instance === (each.instanceKey ?? ""))}
                    shown={shown}
                  />
                </li>
              ))}
          {children.map((child) => (
            <Node component={child} {...shown} />
          ))}
        </ul>
      ) : null}
    </li>
  );
}

function Box(props: {
  name: string;
  kind: string;
  hasPods: boolean;
  instance: Instance | null;
  isEmpty: boolean;
  own: Fact[];
  shown: Shown;
}) {
  const { name, kind, hasPods, instance, isEmpty, own, shown } = props;
  const requests = Object.entries(instance?.requirements?.resourceRequest ?? {});
  return (
    <button
      type="button"
      class={`box ${hasPods ? "with-pods" : ""}`}
      onMouseEnter={() => shown.hover(own)}
      onMouseLeave={() => shown.hover([])}
      onFocus={() => shown.hover(own)}
      onBlur={() => shown.hover([])}
      onClick={() => shown.pin(own)}
    >
      <strong>{name}</strong>
      {kind && kind.toLowerCase() !== name.toLowerCase() ? <span class="quiet">{kind}</span> : null}
      {hasPods && instance ? <span class="chip strong">{counted(instance)}</span> : null}
      {isEmpty ? <span class="chip">none</span> : null}
      {requests.length ? (
        <span class="quiet requests">
          {requests
            .map(([resource, amount]) => `${resource} ${amount}`)
            .join(" · ")}
        </span>
      ) : null}
    </button>
  );
}

function counted({ replicas, scale, requirements }: Instance): string {
  if (!requirements) return "none";
  const { minReplicas: minimum, maxReplicas: maximum } = scale ?? {};
  const number = `${replicas} pod${replicas === 1 ? "" : "s"}`;
  // The default of operators for no bound, as `tree` leaves it out.
  const high = maximum === MOST_REPLICAS ? null : (maximum ?? null);
  if (high === null) return minimum ? `${number} (at least ${minimum})` : number;
  return `${number} (${(minimum ?? null) === null ? "at most" : `${minimum} to`} ${high})`;
}
