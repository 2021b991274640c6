/** The answers: a card for each operation, its chain of facts, and the tree of the workload. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Change, Fact, Json, Page, TextName } from "./api";
import { prose } from "./prose";
import { Tree } from "./tree";

type Show = (facts: Fact[]) => void;

const SHOWN_LINES = 14;

interface Props {
  page: Page | null;
  light: Show;
  replicas: number | null;
  revise: (replicas: number | null) => void;
  setTab: (tab: TextName) => void;
  addCase: (operation: string) => void;
  chosen: string;
  choose: (operation: string) => void;
}

const TITLES: Partial<Record<TextName, string>> = {
  observed: "Member's object",
  items: "Clusters",
  references: "Looked up",
  crd: "CRD",
  suite: "Suite",
};

export function Answers({ page, light, replicas, revise, setTab, addCase, chosen, choose }: Props) {
  const [pinned, setPinned] = useState<Fact[]>([]);
  const last = useRef<Page | null>(null);
  useEffect(() => setPinned([]), [page]);
  if (!page) return <p class="quiet pad">Loading …</p>;
  if (page.stopped || page.unanswered || !page.answers?.length) {
    return (
      <>
        <Unanswered page={page} />
        {last.current ? <Stale page={last.current} /> : null}
      </>
    );
  }
  last.current = page;
  const hover = (facts: Fact[]) => light(facts.length ? facts : pinned);
  const pin = (facts: Fact[]) => {
    setPinned(facts);
    light(facts);
  };
  const isDoubtful =
    page.problems.observed !== undefined ||
    page.findings.some((each) => each.severity === "error") ||
    page.answers.some((answer) => answer.facts.some((fact) => fact.severity && !fact.places?.some((place) => place.exists || place.cluster)));
  // The first answer with a warning shows it.
  const first = new Map(page.answers.toReversed().flatMap((answer) => warningsOf(answer).map((note) => [note, answer])));
  return (
    <div class="cards" onKeyDown={(event) => event.key === "Escape" && pin([])}>
      <Tree page={page} hover={hover} pin={pin} />
      {page.answers.map((answer) => (
        <Card
          key={answer.operation}
          answer={answer}
          hover={hover}
          pin={pin}
          isDoubtful={isDoubtful}
          warnings={warningsOf(answer).filter((note) => answer === first.get(note))}
          addCase={addCase}
          isChosen={chosen === answer.operation}
          choose={choose}
        >
          {answer.operation === "ReviseReplica" && (!answer.missing || answer.missing === "replicas") ? (
            <Revise present={page.replicas ?? ""} chosen={replicas} revise={revise} />
          ) : null}
          {answer.missing ? <Missing answer={answer} problems={page.problems} setTab={setTab} /> : null}
        </Card>
      ))}
    </div>
  );
}

/** The answers before an error, for orientation: nothing in them can be used. */
function Stale({ page }: { page: Page }) {
  const nothing = () => undefined;
  return (
    <div class="cards stale" inert aria-hidden="true">
      <Tree page={page} hover={nothing} pin={nothing} />
      {page.answers.map((answer) => (
        <Card key={answer.operation} answer={answer} hover={nothing} pin={nothing} />
      ))}
    </div>
  );
}

function warningsOf(answer: Answer): string[] {
  return [...new Set(answer.facts.filter((fact) => fact.severity).map((fact) => fact.note))];
}

function Unanswered({ page }: { page: Page }) {
  const [[name, problem] = []] = Object.entries(page.problems ?? {});
  const mistake = page.findings?.find((each) => each.severity === "error");
  const text =
    page.stopped ??
    (page.unanswered && mistake ? `Karta, line ${mistake.line}: ${[mistake.message, mistake.hint].filter(Boolean).join("; ")}` : page.unanswered) ??
    (problem ? `${TITLES[name as TextName] ?? "Object"}, line ${problem.line}: ${problem.message}` : undefined) ??
    "Write an object, open a file, or choose a kind for its examples.";
  return (
    <p class="empty" role="alert">
      {prose(text)}
    </p>
  );
}

function Card(props: {
  answer: Answer;
  hover: Show;
  pin: Show;
  isDoubtful?: boolean;
  warnings?: string[];
  addCase?: (operation: string) => void;
  isChosen?: boolean;
  choose?: (operation: string) => void;
  children?: preact.ComponentChildren;
}) {
  const { answer, hover, pin, isChosen = false } = props;
  const [isOpen, setOpen] = useState(isChosen);
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isChosen) place.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  const id = `answer-${answer.operation}`;
  const layer = answer.layers.find((each) => each.answers);
  return (
    <article ref={place} class={`card ${isChosen ? "chosen" : ""}`} aria-labelledby={id} data-operation={answer.operation}>
      <header>
        <h3 id={id}>
          <a
            href={`?operation=${answer.operation}`}
            onClick={(event) => {
              event.preventDefault();
              props.choose?.(answer.operation);
            }}
          >
            {answer.operation}
          </a>
        </h3>
        <Summary answer={answer} isDoubtful={props.isDoubtful ?? false} />
        {props.addCase && !answer.missing ? (
          <button type="button" class="link" onClick={() => props.addCase?.(answer.operation)}>
            Add as a case
          </button>
        ) : null}
      </header>
      {props.children}
      {answer.results?.healthy === false ? answer.facts.filter(({ rule }) => rule === "verdict").map(({ note }) => <p class="quiet">{prose(note)}</p>) : null}
      {answer.error ? <p class="error-text">{prose(answer.error)}</p> : null}
      {props.warnings?.map((note) => <p class="warning-text">{prose(note)}</p>)}
      {answer.patch && !answer.error ? <Patch answer={answer} hover={hover} pin={pin} /> : null}
      {answer.results && !answer.patch ? <Results answer={answer} hover={hover} pin={pin} /> : null}
      {answer.printed?.length ? <pre class="printed">{answer.printed.join("\n")}</pre> : null}
      {answer.facts.length || layer ? (
        <details class="why" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            Why <span class="quiet">{answer.facts.length} {answer.facts.length === 1 ? "step" : "steps"}</span>
          </summary>
          {layer ? <p class="quiet">by {layer.note}</p> : null}
          {isOpen ? (
            <ol>
              {answer.facts.map((fact) => (
                <Step fact={fact} hover={hover} pin={pin} />
              ))}
            </ol>
          ) : null}
        </details>
      ) : null}
    </article>
  );
}

function Summary({ answer, isDoubtful }: { answer: Answer; isDoubtful: boolean }) {
  const results = answer.results ?? {};
  if (answer.missing) return <span class="chip">not asked</span>;
  if (answer.error) return <span class="chip bad">error</span>;
  switch (answer.operation) {
    case "InterpretReplica":
      return <span class="chip strong">{count(Number(results.replica), "pod")}</span>;
    case "InterpretComponent":
      return <span class="chip strong">{count((results.components as Json[]).length, "component")}</span>;
    case "InterpretHealth":
      if (results.healthy && isDoubtful) return <span class="chip warn">healthy, but see the findings</span>;
      return results.healthy ? <span class="chip good">healthy</span> : <span class="chip bad">not healthy</span>;
    case "InterpretDependency":
      return <span class="chip strong">{count((results.dependencies as Json[]).length, "object")}</span>;
    case "InterpretStatus":
      return <span class="chip strong">{count(Object.keys(results.status ?? {}).length, "field")}</span>;
    default:
      return <span class="chip strong">{answer.patch?.length ? count(answer.patch.length, "change") : "no change"}</span>;
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function Missing({ answer, problems, setTab }: { answer: Answer; problems: Page["problems"]; setTab: (tab: TextName) => void }) {
  const needed = answer.missing as TextName | string;
  if (needed === "replicas") return <p class="quiet">Without an answer of InterpretReplica, type the number of pods.</p>;
  if (needed !== "observed" && needed !== "items") return <p class="quiet">{needed}</p>;
  const problem = problems[needed];
  if (problem)
    return (
      <p class="error-text">
        {prose(`${TITLES[needed]}, line ${problem.line}: ${problem.message}`)}{" "}
        <button type="button" class="link" onClick={() => setTab(needed)}>
          Open the tab
        </button>
      </p>
    );
  return (
    <p class="quiet">
      {needed === "observed" ? "It needs the object of a member cluster. " : "It needs the statuses of clusters. "}
      <button type="button" class="link" onClick={() => setTab(needed)}>
        {needed === "observed" ? "Add the member's object" : "Choose clusters"}
      </button>
    </p>
  );
}

function Revise(props: { present: number | ""; chosen: number | null; revise: (replicas: number | null) => void }) {
  const [typed, setTyped] = useState<string | null>(null); // while the field has the focus: it may be empty then
  return (
    <label class="revise">
      Revise to
      <input
        type="number"
        min="0"
        max="2147483647"
        value={typed ?? props.chosen ?? props.present}
        onBlur={() => setTyped(null)}
        onInput={(event) => {
          const { value, valueAsNumber } = event.currentTarget;
          setTyped(value);
          if (value === "" || Number.isSafeInteger(valueAsNumber)) props.revise(value === "" ? null : valueAsNumber);
        }}
      />
      pods
      <span class="error-text">a whole number from 0 to 2147483647</span>
    </label>
  );
}

/** The facts behind a part of an answer: those about it, about what is in it, or about what it is in. */
function factsFor(answer: Answer, pointer: string): Fact[] {
  const near = answer.facts.filter(
    ({ answer: own }) => own && (own === pointer || own.startsWith(`${pointer}/`) || pointer.startsWith(`${own}/`)),
  );
  return near.length ? near : answer.facts.filter((fact) => !fact.answer && !fact.severity && fact.rule !== "nearly");
}

function Results({ answer, hover, pin }: { answer: Answer; hover: Show; pin: Show }) {
  const lines = Object.entries(answer.results ?? {}).flatMap(([name, value]) => [...written(value, `/${name}`, 0, name)]);
  return <Lines lines={lines} answer={answer} hover={hover} pin={pin} />;
}

const PARTS: Record<string, string> = { ReviseReplica: "/revised", Retain: "/retained", AggregateStatus: "/aggregatedStatus" };

function Patch({ answer, hover, pin }: { answer: Answer; hover: Show; pin: Show }) {
  const changes = answer.patch ?? [];
  const root = PARTS[answer.operation] ?? "";
  const lines = changes.flatMap((change) => [...changed(change, root)]);
  if (!lines.length) return <p class="quiet">The object does not change.</p>;
  return <Lines lines={lines} answer={answer} hover={hover} pin={pin} />;
}

interface Line {
  pointer: string;
  depth: number;
  key: string;
  value: string;
  old?: string;
  sign?: "+" | "−" | "~";
}

function* changed(change: Change, root: string): Generator<Line> {
  const pointer = `${root}${change.path}`;
  const key = change.path.slice(1) || "(whole)";
  if (change.op === "remove") yield { pointer, depth: 0, key, value: "", old: short(change.old), sign: "−" };
  else if (change.op === "replace") yield { pointer, depth: 0, key, value: short(change.value), old: short(change.old), sign: "~" };
  else for (const line of written(change.value ?? null, pointer, 0, key)) yield { ...line, sign: "+" };
}

/** The lines of a value, about as YAML has them. */
function* written(value: Json, pointer: string, depth: number, key: string): Generator<Line> {
  const children = value && typeof value === "object" ? Object.entries(value) : [];
  if (!children.length) {
    yield { pointer, depth, key, value: short(value) };
    return;
  }
  yield { pointer, depth, key, value: "" };
  for (const [name, child] of children) {
    const escaped = name.replaceAll("~", "~0").replaceAll("/", "~1");
    yield* written(child, `${pointer}/${escaped}`, depth + 1, Array.isArray(value) ? `- ${label(child)}`.trim() : name);
  }
}

function label(element: Json): string {
  if (!element || typeof element !== "object" || Array.isArray(element)) return "";
  return String(element.name ?? element.type ?? "");
}

export function short(value: Json | undefined, longest = 160): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

function Lines({ lines, answer, hover, pin }: { lines: Line[]; answer: Answer; hover: Show; pin: Show }) {
  const [all, setAll] = useState(false);
  const shown = all || lines.length <= SHOWN_LINES + 2 ? lines : lines.slice(0, SHOWN_LINES);
  return (
    <div class="lines">
      {shown.map((line) => {
        const facts = factsFor(answer, line.pointer);
        return (
          <button
            type="button"
            class={`line depth-${Math.min(line.depth, 8)} ${line.sign ? { "+": "added", "−": "removed", "~": "replaced" }[line.sign] : ""}`}
            data-pointer={line.pointer}
            onMouseEnter={() => hover(facts)}
            onMouseLeave={() => hover([])}
            onFocus={() => hover(facts)}
            onBlur={() => hover([])}
            onClick={() => pin(facts)}
          >
            {line.sign ? <span class="sign">{line.sign}</span> : null}
            <span class={line.key === "-" ? "dash" : "key"}>{line.key}</span>
            {line.old ? <del>{line.old}</del> : null}
            {line.old && line.value ? <span aria-hidden="true">→</span> : null}
            {line.value ? <span class="value">{line.value}</span> : null}
          </button>
        );
      })}
      {shown.length < lines.length ? (
        <button type="button" class="link" onClick={() => setAll(true)}>
          {lines.length - shown.length} more lines
        </button>
      ) : null}
    </div>
  );
}

function Step({ fact, hover, pin }: { fact: Fact; hover: Show; pin: Show }) {
  return (
    <li>
      <button
        type="button"
        class={`step ${fact.severity ? "step-warning" : ""}`}
        onMouseEnter={() => hover([fact])}
        onMouseLeave={() => hover([])}
        onFocus={() => hover([fact])}
        onBlur={() => hover([])}
        onClick={() => pin([fact])}
      >
        <span class="rule">{fact.rule}</span>
        <span class="note">
          {prose(fact.note)}
          {fact.expression ? <code>{fact.expression.replace(/\s+/g, " ")}</code> : null}
          {fact.places?.slice(0, 4).map((place) => (
            <span class="place">
              {place.cluster ? `${place.cluster} ` : ""}
              {place.pointer}
              {place.exists ? (place.value === undefined ? "" : ` = ${short(place.value)}`) : " is not set"}
            </span>
          ))}
          {fact.writes?.length ? <span class="place">a new count is written to {fact.writes.join(", ")}</span> : null}
        </span>
      </button>
    </li>
  );
}
