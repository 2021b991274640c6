/** The workbench: the Karta and the object on the left, the answers on the right. */

import type { EditorView } from "@codemirror/view";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { inAddress, toAddress } from "./address";
import { type CaseResult, type Example, type Fact, get, type Kind, type Page, type Path, type Question, type Row, type Start, type TextName, writeCase } from "./api";
import { Answers, short } from "./answers";
import { Asker } from "./asker";
import type { Schema } from "./completion";
import { forget, keep, kept } from "./draft";
import { createEditor, type Light, lightUp, type Note, setText, showNotes } from "./editor";
import { Picker } from "./picker";
import { prose } from "./prose";
import { fromFile, toFile } from "./share";

/** What another page opens in the workbench. */
export interface Opened {
  kind: Kind;
  example?: Example;
}

const TABS: { name: TextName; title: string; about: string }[] = [
  { name: "object", title: "Object", about: "The resource template, as in the control plane." },
  { name: "observed", title: "Member's object", about: "The same workload in a member cluster: for Retain, status and health." },
  { name: "items", title: "Clusters", about: "What member clusters report, for AggregateStatus." },
  { name: "references", title: "Looked up", about: "Objects that the definition refers to." },
  { name: "crd", title: "CRD", about: "The CustomResourceDefinition checks the Karta and completes its paths." },
  { name: "suite", title: "Suite", about: "Add as a case, at an answer, writes here. `karta-interpreter test` runs it, saved in testdata." },
];
const PARTS = { karta: "Karta", objects: "Objects", answers: "Answers" };
const NOTHING: Question = {
  karta: "",
  object: "",
  observed: "",
  items: "",
  references: "",
  crd: "",
  suite: "",
  replicas: null,
  options: { resourceQuotaEstimate: false, podRequests: "scheduler" },
};
const SHARED = "workbench.json";
const KIND = /^kind: *["']?(\w+)/m;

export function Workbench(props: { start: Start; schema: Schema; rows: Row[]; opened: Opened | null; isShown: boolean }) {
  const [question, setQuestion] = useState<Question>(NOTHING);
  const [page, setPage] = useState<Page | null>(null);
  const [error, setError] = useState("");
  const [lost, setLost] = useState(""); // what the address names and is not there
  const [tab, setTab] = useState<TextName>("object");
  const [kind, setKind] = useState<Kind | null>(null);
  const [milliseconds, setMilliseconds] = useState(0);
  const [said, setSaid] = useState("");
  const [part, setPart] = useState<keyof typeof PARTS>("answers");
  const [object, setObject] = useState("");
  const [operation, setOperation] = useState(inAddress("operation"));
  const [wanted] = useState(() => ({ kind: inAddress("kind"), object: inAddress("object"), tab: inAddress("tab") }));
  const paths = useRef<Path[]>([]);
  const views = useRef<Partial<Record<TextName, EditorView>>>({});
  const state = useRef<Question>(NOTHING);
  const asked = useRef(0);
  const isEdited = useRef(false);

  const asker = useMemo(
    () =>
      new Asker(
        (answered, changedAt) => {
          asked.current = changedAt;
          setError("");
          setPage(answered);
        },
        (failure) => setError(failure.message),
      ),
    [],
  );

  const change = (part: Partial<Question>) => {
    state.current = { ...state.current, ...part };
    setQuestion(state.current);
    asker.ask(state.current);
  };

  /** Take what a user has typed or opened, which is kept in the browser. */
  const edit = (part: Partial<Question>) => {
    isEdited.current = true;
    setObject("");
    setLost("");
    change(withoutOthers(state.current, part));
    for (const [name, view] of Object.entries(views.current)) setText(view, state.current[name as TextName]);
    keep(state.current);
  };

  const open = (name: TextName, files: FileList) => {
    textOf(files).then(
      (text) => {
        const shared = fromFile(text);
        if (!shared) edit({ [name]: text });
        else if (mayReplace()) edit({ ...NOTHING, ...known(shared) });
      },
      (failure) => setLost(failure.message),
    );
  };

  /** Put texts into the editors, which report them as changes. */
  const put = (part: Partial<Question>) => {
    const whole = { ...state.current, ...part };
    state.current = whole;
    for (const [name, view] of Object.entries(views.current)) setText(view, whole[name as TextName]);
    change(part);
  };

  const fail = (failure: Error) => setError(failure.message);

  const mayReplace = () => !isEdited.current || confirm("This replaces your edits. Continue?");

  const choose = async (name: string) => {
    await get<Kind>(`/api/kinds/${name}`).then(show, fail);
  };

  const show = (found: Kind, example?: Example) => {
    if (!mayReplace()) return;
    isEdited.current = false;
    setLost("");
    forget();
    setKind(found);
    const chosen = example ?? wholeExample(found);
    setObject(chosen?.name ?? "");
    const isOther = !kind || found.kind !== kind.kind || found.apiVersion !== kind.apiVersion;
    put({ karta: found.text, ...(isOther ? { crd: "", suite: "" } : {}), ...(chosen ? textsOf(chosen) : {}) });
    setTab(chosen?.operation === "Retain" ? "observed" : chosen?.operation === "AggregateStatus" ? "items" : "object");
  };

  useEffect(() => {
    const begin = async () => {
      const missing = (text: string) => {
        setLost(text);
        return null;
      };
      const { karta, object, kind } = props.start.texts;
      const draft = kept(Boolean(karta || object));
      const found =
        wanted.kind
          ? await get<Kind>(`/api/kinds/${wanted.kind}`).catch((failure) => missing(`${wanted.kind}: ${failure.message}`))
          : null;
      if (found) {
        const example = found.examples.find((each) => each.name === wanted.object);
        show(found, example);
        if (wanted.object && !example) missing(`${wanted.kind} has no example "${wanted.object}"`);
        const named = TABS.find((each) => each.name === wanted.tab);
        if (wanted.tab && !named) missing(`there is no tab "${wanted.tab}"`);
        setTab(named?.name ?? "object");
      } else if (draft) {
        put({ ...NOTHING, ...known(draft) });
        isEdited.current = true;
      } else if (karta || object) {
        put({ karta, object });
        if (kind) await get<Kind>(`/api/kinds/${kind}`).then((chosen) => setKind({ ...chosen, text: karta }));
      } else {
        const { example } = props.start;
        put({ ...example, observed: example.object, items: ["member1", "member2"].map(reported).join("") });
      }
    };
    begin().catch((failure) => setError(String(failure.message)));
  }, []);

  useEffect(() => {
    // An object that was edited has no address. A file that is shared holds it.
    const name = object && kind ? `${kind.apiVersion}/${kind.kind}` : "";
    if (props.isShown) toAddress({ kind: name, object, tab: name ? tab : "", operation });
  }, [props.isShown, kind, object, tab, operation]);

  useEffect(() => {
    if (props.opened) show(props.opened.kind, props.opened.example);
  }, [props.opened]);

  useLayoutEffect(() => {
    if (!page) return;
    const took = performance.now() - asked.current;
    performance.measure("answer", { start: asked.current, duration: took });
    setMilliseconds(took);
    paths.current = page.paths ?? (state.current.crd ? paths.current : []);
    for (const [name, view] of Object.entries(views.current)) {
      showNotes(view, notesOf(page, name as TextName));
    }
  }, [page]);

  const light = (facts: Fact[]) => {
    const lights: Partial<Record<TextName, Light[]>> = {};
    const add = (name: TextName, one: Light) => {
      (lights[name] ??= []).push(one);
    };
    for (const fact of facts) {
      if (fact.at) add("karta", { at: fact.at, kind: "expression" });
      for (const at of fact.writesAt ?? []) add("object", { at, kind: "written" });
      for (const place of fact.places ?? []) {
        if (place.at) add(place.text, { at: place.at, kind: place.exists ? "read" : "absent" });
      }
    }
    const lit = TABS.map((each) => each.name).filter((name) => lights[name]);
    if (lit.length && !lit.includes(tab) && lit[0]) setTab(lit[0]);
    for (const [name, view] of Object.entries(views.current)) lightUp(view, lights[name as TextName] ?? []);
  };

  const share = () => {
    download(SHARED, toFile(state.current));
    say(`Saved as ${SHARED}: Open a file, in any console, takes it`);
  };

  const say = (text: string) => {
    setSaid(text);
    setTimeout(() => setSaid(""), 4000);
  };

  const copy = async (name: TextName) => {
    say((await copied(state.current[name])) ? "Copied" : "The browser allows no copy: select the text, then Ctrl-C");
  };

  const addCase = async (operation: string) => {
    const text = await writeCase(state.current, operation).catch(fail);
    if (!text) return;
    const suite = withCase(state.current.suite, text);
    if (suite) edit({ suite });
    setTab("suite");
    say(suite ? "The case is in the tab Suite" : "The tab Suite has this case already");
  };

  const goTo = (name: TextName) => {
    setTab(name);
    setPart("objects");
  };

  const editor = (name: TextName, label: string) => (
    <Editor
      name={name}
      label={label}
      {...(name === "karta" ? { completed: { schema: props.schema, paths: () => paths.current } } : {})}
      created={(view) => {
        views.current[name] = view;
      }}
      changed={(text) => text !== state.current[name] && edit({ [name]: text })}
    />
  );

  const isUnknown = operation && page?.answers.length && !page.answers.some((each) => each.operation === operation);
  const nowhere = lost || (isUnknown ? `there is no operation "${operation}"` : "");
  const notes = page ? ofKarta(page) : [];
  const wrong = (name: TextName) => (page ? notesOf(page, name) : []).some((note) => note.severity === "error");
  const errors = notes.filter((each) => each.severity === "error").length;
  return (
    <div class="workbench" data-part={part}>
      <h1 class="visually-hidden">Workbench</h1>
      <div class="parts" role="group" aria-label="Shown">
        {Object.entries(PARTS).map(([name, text]) => (
          <button type="button" aria-pressed={part === name} onClick={() => setPart(name as keyof typeof PARTS)}>
            {text}
            {name === "karta" && notes.length ? <span class="dot" aria-label="with findings" /> : null}
            {name === "objects" && TABS.some((each) => wrong(each.name)) ? <span class="dot bad" aria-label="with errors" /> : null}
          </button>
        ))}
      </div>
      <div class="texts">
        <section class="pane pane-karta" aria-labelledby="karta-title" onDrop={(event) => drop(event, "karta", open)} onDragOver={allow}>
          <div class="pane-head">
            <h2 id="karta-title">Karta</h2>
            <KindPicker rows={props.rows} kind={kindOf(page, kind)} isOwn={question.karta === kind?.text} choose={choose} />
            <span class="grow" />
            {page && question.karta.trim() ? <Count errors={errors} warnings={notes.length - errors} /> : null}
            <FileButton label="Open a file as Karta" taken={(files) => open("karta", files)} />
            <TextButtons name="karta" question={question} copy={copy} />
          </div>
          {editor("karta", "Karta")}
          <Findings notes={notes} jump={(line) => reveal(views.current.karta, line)} />
        </section>
        <section class="pane pane-objects" aria-label="Objects" onDrop={(event) => drop(event, tab, open)} onDragOver={allow}>
          <div class="pane-head">
            <div role="tablist" aria-label="Objects" class="tabs">
              {TABS.filter((each) => each.name !== "references" || page?.references?.length || question.references).map((each) => (
                <button
                  type="button"
                  role="tab"
                  id={`tab-${each.name}`}
                  aria-selected={tab === each.name}
                  aria-controls={`panel-${each.name}`}
                  tabIndex={tab === each.name ? 0 : -1}
                  onClick={() => setTab(each.name)}
                  onKeyDown={(event) => moveTab(event)}
                >
                  {each.title}
                  {wrong(each.name) ? (
                    <span class="dot bad" aria-label="with errors" />
                  ) : question[each.name] && each.name !== "object" ? (
                    <span class="dot" aria-label="filled" />
                  ) : null}
                </button>
              ))}
            </div>
          </div>
          {TABS.map((each) => (
            <div
              role="tabpanel"
              class="panel"
              id={`panel-${each.name}`}
              aria-labelledby={`tab-${each.name}`}
              hidden={tab !== each.name}
            >
              <Toolbar name={each.name} title={each.title} kind={kindOf(page, kind)} question={question} put={edit} open={open} show={show} copy={copy} about={(each.name === "suite" && verdict(page?.cases ?? [], question.suite)) || each.about} />
              {editor(each.name, each.title)}
              <Findings notes={page ? notesOf(page, each.name) : []} jump={(line) => reveal(views.current[each.name], line)} />
            </div>
          ))}
        </section>
      </div>
      <section class={`answers ${error ? "outdated" : ""}`} aria-labelledby="answers-title">
        <div class="pane-head">
          <h2 id="answers-title">Answers</h2>
          <span class={`quiet status ${error || nowhere ? "error-text" : ""}`} role="status" aria-live="polite">
            {prose(error || nowhere || said || summary(page))}
          </span>
          {milliseconds ? <span class="quiet time">{Math.round(milliseconds)} ms</span> : null}
          <Options question={question} change={change} />
          <button type="button" onClick={share}>
            Share
          </button>
        </div>
        {page || !error ? (
          <Answers
            page={page}
            light={light}
            replicas={question.replicas}
            revise={(replicas) => change({ replicas })}
            setTab={goTo}
            addCase={addCase}
            chosen={operation}
            choose={(name) => setOperation(name === operation ? "" : name)}
          />
        ) : null}
      </section>
    </div>
  );
}

async function copied(text: string): Promise<boolean> {
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** The kind of the catalogue that was chosen, while the object is one. */
function kindOf(page: Page | null, chosen: Kind | null): Kind | null {
  const isAnother = page?.kind && (page.kind !== chosen?.kind || page.apiVersion !== chosen.apiVersion);
  return isAnother ? null : chosen;
}

/** A suite with one more case, under a name of its own. Empty if the suite has the case already. */
function withCase(suite: string, text: string): string {
  const cases = suite.split(/^---\n/m).map((each) => each.trim());
  const [name = "", ...lines] = text.trim().split("\n");
  if (cases.some((each) => each.split("\n").slice(1).join("\n") === lines.join("\n"))) return "";
  const names = new Set(cases.map((each) => each.split("\n")[0]));
  let number = 1;
  const numbered = () => (number === 1 ? name : name.replace(/(["']?)$/, ` ${number}$1`));
  while (names.has(numbered())) number += 1;
  return [...cases.filter(Boolean), [numbered(), ...lines].join("\n")].join("\n---\n") + "\n";
}

function summary(page: Page | null): string {
  return page?.definition ? `${page.kind} by ${page.definition}` : "";
}

/** The first example with what clusters report next to it: something to see in every answer. */
function wholeExample(kind: Kind): Example | undefined {
  const [first] = kind.examples;
  const lengths = (example: Example) => (example.operation === "AggregateStatus" ? example.items.length : -1);
  const reported = kind.examples.toSorted((left, right) => lengths(right) - lengths(left))[0];
  return first && { ...first, items: reported?.items ?? "" };
}

/** A change of the texts; an object of another kind leaves nothing of the one before, which says nothing about it. */
function withoutOthers(before: Question, part: Partial<Question>): Partial<Question> {
  const [was, is] = [before.object, part.object ?? ""].map((text) => KIND.exec(text)?.[1]);
  return was && is && was !== is ? { observed: "", items: "", references: "", ...part } : part;
}

/** The texts that this page has: a draft or a link may be of an older one. */
function known(texts: Partial<Question>): Partial<Question> {
  const types = { ...NOTHING, replicas: 0 };
  return Object.fromEntries(Object.entries(texts).filter(([name, value]) => value !== null && typeof value === typeof types[name as keyof Question]));
}

function reported(cluster: string): string {
  return `- clusterName: ${cluster}\n  applied: true\n  status: {phase: Ready}\n`;
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function textsOf(example: Example): Partial<Question> {
  const { object, observed, items, references, replicas } = example;
  return { object, observed, items, references, replicas };
}

/** How many cases of the suite pass, and what is left to do with them. */
function verdict(cases: CaseResult[], suite: string): string {
  const failed = cases.filter((each) => each.failures.length).length;
  const todo = suite.match(/^description: *["']?TODO/gm)?.length;
  const reasons = todo ? `, ${todo} with TODO for the reason` : "";
  return cases.length ? `${cases.length - failed} of ${cases.length} cases pass${reasons}. Saved in testdata, \`karta-interpreter test\` runs them.` : "";
}

/** What is wrong with a text, and what the answers warn of in it. */
function notesOf(page: Page, name: TextName): Note[] {
  if (name === "karta") return ofKarta(page);
  const problem = page.problems[name];
  const failed = name === "suite" ? (page.cases ?? []).filter((each) => each.failures.length) : [];
  return [
    ...(problem ? [{ ...problem, severity: "error" as const }] : []),
    ...failed.map(({ line, column, ...each }) => ({ line, column, severity: "error" as const, message: short(`${each.name}: ${each.failures.join("; ")}`, 400) })),
    ...lacks(page, name),
  ];
}

/** The findings about the Karta and its paths that find nothing, by line. */
function ofKarta(page: Page): Note[] {
  const found = page.findings.map(({ hint, ...finding }) => ({
    ...finding,
    message: `${finding.message}${hint ? `; ${hint}` : ""}`,
  }));
  return [...found, ...lacks(page, "karta")].toSorted((one, other) => one.line - other.line || one.column - other.column);
}

/** What the answers warn of: at the value that it is about, else at the path that finds nothing, else above the object. */
function lacks(page: Page, name: string): Note[] {
  const found = page.answers.flatMap((answer) => answer.facts.filter((fact) => fact.severity));
  const notes = found.flatMap((fact) => {
    const place = fact.places?.find((each) => each.at && (each.exists || each.cluster));
    const at = place ? place.at : (fact.at ?? [1, 1]);
    const isHere = (place?.text ?? (fact.at ? "karta" : "object")) === name;
    return at && isHere ? [{ line: at[0], column: at[1], severity: "warning" as const, message: fact.note }] : [];
  });
  return [...new Map(notes.map((note) => [note.message, note])).values()];
}

function allow(event: DragEvent): void {
  event.preventDefault();
}

/** The texts of opened or dropped files, each a document. */
async function textOf(files: FileList): Promise<string> {
  const texts = await Promise.all([...files].map(async (file) => ({ name: file.name, text: await file.text() })));
  const binary = texts.find(({ text }) => /[\0\ufffd]/.test(text));
  if (binary) throw new Error(`${binary.name} is not a text: open a file of YAML or JSON`);
  return texts.map(({ text }) => text).join("\n---\n");
}

function drop(event: DragEvent, name: TextName, open: (name: TextName, files: FileList) => void): void {
  const files = event.dataTransfer?.files;
  if (!files?.length) return;
  event.preventDefault();
  open(name, files);
}

function reveal(view: EditorView | undefined, line: number): void {
  if (!view) return;
  const { from } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
  view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
  view.focus();
}

function moveTab(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const tabs = [...((event.currentTarget as HTMLElement).parentElement?.querySelectorAll<HTMLElement>("[role=tab]") ?? [])];
  const next = tabs[(tabs.indexOf(event.currentTarget as HTMLElement) + step + tabs.length) % tabs.length];
  next?.focus();
  next?.click();
}

function Editor(props: {
  name: TextName;
  label: string;
  completed?: { schema: Schema; paths: () => Path[] };
  created: (view: EditorView) => void;
  changed: (text: string) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!place.current) return;
    const view = createEditor(place.current, props.label, "", props.changed, props.completed);
    props.created(view);
    return () => view.destroy();
  }, []);
  return <div class="editor" ref={place} data-text={props.name} />;
}

function KindPicker(props: { rows: Row[]; kind: Kind | null; isOwn: boolean; choose: (name: string) => void }) {
  const choices = props.rows.slice(0, 1000).map(({ apiVersion, kind }) => ({ value: `${apiVersion}/${kind}`, text: kind, note: apiVersion }));
  const shown = props.kind ? `${props.kind.kind}${props.isOwn ? "" : ", edited"}` : "";
  return <Picker label="Kind" choices={choices} shown={shown} placeholder="Choose a kind …" choose={props.choose} />;
}

function Toolbar(props: {
  name: TextName;
  title: string;
  kind: Kind | null;
  question: Question;
  put: (part: Partial<Question>) => void;
  open: (name: TextName, files: FileList) => void;
  show: (kind: Kind, example?: Example) => void;
  copy: (name: TextName) => void;
  about: string;
}) {
  const { name, kind, question, put, show } = props;
  return (
    <div class="toolbar">
      {name === "object" && kind?.examples.length ? <ExamplePicker kind={kind} show={show} /> : <span class="quiet about">{prose(props.about)}</span>}
      {name === "observed" && (
        <button type="button" onClick={() => put({ observed: question.object })}>
          Copy the object
        </button>
      )}
      {name === "items" && <ClusterPicker kind={kind} items={question.items} put={put} />}
      {name !== "object" && question[name] ? (
        <button type="button" onClick={() => put({ [name]: "" })}>
          Clear
        </button>
      ) : null}
      <FileButton label={`Open a file as ${props.title}`} taken={(files) => props.open(name, files)} />
      <TextButtons name={name} question={question} copy={props.copy} />
    </div>
  );
}

function TextButtons(props: { name: TextName; question: Question; copy: (name: TextName) => void }) {
  const { name, question } = props;
  if (!question[name]) return null;
  const file = `${name}.yaml`;
  return (
    <>
      <button type="button" aria-label={`Copy ${file}`} onClick={() => props.copy(name)}>
        Copy
      </button>
      <button type="button" aria-label={`Save ${file}`} onClick={() => download(file, question[name])}>
        Save
      </button>
    </>
  );
}

function ExamplePicker({ kind, show }: { kind: Kind; show: (kind: Kind, example?: Example) => void }) {
  const choices = kind.examples.map((each, index) => ({ value: String(index), text: each.name, note: each.operation }));
  return <Picker label="Example" choices={choices} shown="" placeholder={`${kind.examples.length} examples …`} isWide choose={(index) => show(kind, kind.examples[Number(index)])} />;
}

function ClusterPicker(props: { kind: Kind | null; items: string; put: (part: Partial<Question>) => void }) {
  const reports = props.kind?.reports ?? [];
  const choices = [
    { value: "none", text: "without a status" },
    ...reports.map((report, index) => ({ value: String(index), text: report.name })),
    { value: "own", text: "with a status to write" },
  ];
  const add = (chosen: string) => {
    const report = reports[Number(chosen)]?.text.trimEnd().replaceAll("\n", "\n    ");
    const status = report ? `\n    ${report}` : chosen === "own" ? OWN_STATUS : "";
    const number = (props.items.match(/clusterName:/g)?.length ?? 0) + 1;
    const item = `- clusterName: member${number}\n  applied: true\n${status ? `  status:${status}\n` : ""}`;
    props.put({ items: `${props.items && !props.items.endsWith("\n") ? `${props.items}\n` : props.items}${item}` });
  };
  return <Picker label="Add a cluster" choices={choices} shown="" placeholder="Add a cluster" choose={add} />;
}

const OWN_STATUS = " {} # what is below status in the object of this cluster";

function FileButton({ label, taken }: { label: string; taken: (files: FileList) => void }) {
  return (
    <label class="button" tabIndex={-1}>
      Open a file
      <input
        type="file"
        class="hidden-input"
        aria-label={label}
        accept=".yaml,.yml,.json"
        onChange={(event) => {
          const input = event.currentTarget;
          if (input.files?.length) taken(input.files);
          input.value = "";
        }}
      />
    </label>
  );
}

function Options({ question, change }: { question: Question; change: (part: Partial<Question>) => void }) {
  const { options } = question;
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => menu.current?.removeAttribute("open");
  useEffect(() => {
    const pressed = (event: Event) => menu.current?.contains(event.target as Node) || close();
    addEventListener("pointerdown", pressed);
    return () => removeEventListener("pointerdown", pressed);
  }, []);
  return (
    <details class="menu" ref={menu} onKeyDown={(event) => event.key === "Escape" && close()}>
      <summary>Options</summary>
      <div class="menu-body">
        <label>
          <input
            type="checkbox"
            checked={options.resourceQuotaEstimate}
            onChange={(event) => change({ options: { ...options, resourceQuotaEstimate: event.currentTarget.checked } })}
          />
          Karmada's gate ResourceQuotaEstimate is on
        </label>
        <label>
          Requests of a pod as counted by
          <select
            value={options.podRequests}
            onChange={(event) =>
              change({ options: { ...options, podRequests: event.currentTarget.value as "scheduler" | "karmada" } })
            }
          >
            <option value="scheduler">kube-scheduler</option>
            <option value="karmada">Karmada</option>
          </select>
        </label>
      </div>
    </details>
  );
}

function Count({ errors, warnings }: { errors: number; warnings: number }) {
  if (!errors && !warnings) return <span class="chip good">no findings</span>;
  return (
    <>
      {errors ? <span class="chip bad">{errors === 1 ? "1 error" : `${errors} errors`}</span> : null}
      {warnings ? <span class="chip warn">{warnings === 1 ? "1 warning" : `${warnings} warnings`}</span> : null}
    </>
  );
}

function Findings({ notes, jump }: { notes: Note[]; jump: (line: number) => void }) {
  if (!notes.length) return null;
  return (
    <ul class="findings" aria-label="Findings">
      {notes.map((finding) => (
        <li class={finding.severity}>
          <button type="button" onClick={() => jump(finding.line)}>
            <span class="where">{finding.line}:{finding.column}</span>
            <span>
              <span class="visually-hidden">{finding.severity}: </span>
              {prose(finding.message)}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
