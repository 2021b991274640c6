/** The console: its pages, its navigation, its colours. */

import { render } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { ApiError, get, type Row, type Start, takeToken } from "./api";
import { CataloguePage } from "./catalogue";
import type { Schema } from "./completion";
import { KindPage } from "./kind";
import { MemberPage } from "./member";
import { prose } from "./prose";
import { Workbench, type Opened } from "./workbench";
import "./style.css";

interface Loaded {
  start: Start;
  schema: Schema;
  rows: Row[];
}

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function App() {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [path, setPath] = useState(here);
  const [opened, setOpened] = useState<Opened | null>(null);

  useEffect(() => {
    Promise.all([get<Start>("/api/start"), get<Schema>("/api/schema"), get<Row[]>("/api/kinds")])
      .then(([start, schema, rows]) => setLoaded({ start, schema, rows }))
      .catch(setError);
    const moved = () => setPath(here());
    addEventListener("popstate", moved);
    return () => removeEventListener("popstate", moved);
  }, []);

  // A page that was left with the button of the browser returns where it was.
  useLayoutEffect(() => document.querySelector("main")?.scrollTo(0, history.state?.top ?? 0), [path]);

  useEffect(() => {
    document.title = `${title(path)} · Karta console`;
  }, [path]);

  const go = (to: string) => {
    history.replaceState({ top: document.querySelector("main")?.scrollTop }, "");
    history.pushState(null, "", to);
    setPath(to);
    document.querySelector("main")?.focus();
  };
  const open = (what: Opened) => {
    setOpened(what);
    go("/");
  };

  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="/" onClick={(event) => follow(event, go)}>
          <img src="/assets/icon.svg" alt="" width="24" height="24" /> Karta console
        </a>
        <nav aria-label="Pages">
          {[
            ["/", "Workbench"],
            ["/catalogue", "Catalogue"],
            ...(loaded?.start.hasMember ? [["/member", "Member"]] : []),
          ].map(([to = "", name]) => (
            <a href={to} aria-current={isAt(path, to) ? "page" : undefined} onClick={(event) => follow(event, go)}>
              {name}
            </a>
          ))}
        </nav>
        <ThemeButton />
      </header>
      <main id="main" tabIndex={-1}>
        {error ? (
          <Failure error={error} />
        ) : !loaded ? (
          <p class="quiet pad">Loading …</p>
        ) : (
          <>
            <div class="page-workbench" hidden={path !== "/"}>
              <Workbench start={loaded.start} schema={loaded.schema} rows={loaded.rows} opened={opened} isShown={path === "/"} />
            </div>
            {path === "/catalogue" && <CataloguePage rows={loaded.rows} go={go} />}
            {path.startsWith("/catalogue/") && <KindPage key={path} path={path.slice("/catalogue/".length)} rows={loaded.rows} open={open} go={go} />}
            {path === "/member" && <MemberPage />}
            {isKnown(path) ? null : <Unknown path={path} go={go} />}
          </>
        )}
      </main>
    </>
  );
}

/** The path of the page, without a slash at its end. */
function here(): string {
  return location.pathname.replace(/(.)\/+$/, "$1");
}

function title(path: string): string {
  if (path.startsWith("/catalogue/")) return path.split("/").at(-1) ?? "";
  return { "/": "Workbench", "/catalogue": "Catalogue", "/member": "Member" }[path] ?? "No such page";
}

function isKnown(path: string): boolean {
  return ["/", "/catalogue", "/member"].includes(path) || path.startsWith("/catalogue/");
}

function Unknown({ path, go }: { path: string; go: (to: string) => void }) {
  return (
    <section class="failure">
      <h1>There is no such page</h1>
      <p>
        The console has nothing at <code>{path}</code>. Go to{" "}
        <a href="/" onClick={(event) => follow(event, go)}>
          the workbench
        </a>{" "}
        or{" "}
        <a href="/catalogue" onClick={(event) => follow(event, go)}>
          the catalogue
        </a>
        .
      </p>
    </section>
  );
}

function isAt(path: string, to: string): boolean {
  return to === "/" ? path === "/" : path.startsWith(to);
}

function follow(event: MouseEvent, go: (to: string) => void): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go((event.currentTarget as HTMLAnchorElement).getAttribute("href") ?? "/");
}

function Failure({ error }: { error: Error }) {
  const isUnknown = error instanceof ApiError && error.status === 401;
  return (
    <section class="failure" role="alert">
      <h1>{isUnknown ? "Missing or expired token" : "The console does not answer"}</h1>
      <p>
        {isUnknown
          ? prose("Open the URL that `karta-interpreter console` has printed.")
          : error.message}
      </p>
    </section>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState<Theme>((localStorage.getItem("karta-console-theme") as Theme) ?? "auto");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("karta-console-theme", theme);
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  const sign = { auto: "◐", light: "☀", dark: "☾" }[theme];
  return (
    <button type="button" class="plain" onClick={() => setTheme(next)} aria-label={`Colours: ${theme}; change to ${next}`}>
      <span aria-hidden="true">{sign}</span>
    </button>
  );
}

takeToken();
// A new address of the console in the same tab differs in its fragment only.
addEventListener("hashchange", () => /^#token=/.test(location.hash) && location.reload());
const root = document.getElementById("app");
if (root) render(<App />, root);
