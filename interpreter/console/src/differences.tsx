/** The Karta next to another definition: where their answers about the examples differ. */

import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { short } from "./answers";
import { type Compared, compare, get, type Json, type Kind, type Page, type Question, type Row } from "./api";
import { prose } from "./prose";

const PATIENCE = 400;

interface Props {
  question: Question;
  page: Page | null;
  rows: Row[];
  isShown: boolean;
  edit: (part: Partial<Question>) => void;
  children: ComponentChildren;
}

export function Differences({ question, page, rows, isShown, edit, children }: Props) {
  const [found, setFound] = useState<Compared | null>(null);
  const [error, setError] = useState("");
  const isServed = rows.some((row) => row.kind === page?.kind && row.apiVersion === page.apiVersion);

  const takeServed = () =>
    get<Kind>(`/api/kinds/${page?.apiVersion}/${page?.kind}`).then(
      (served) => edit({ before: served.text, suite: question.suite || served.suite }),
      (failure) => setError(failure.message),
    );

  useEffect(() => {
    if (isShown && isServed && !question.before) void takeServed();
  }, [isShown, isServed]);

  useEffect(() => {
    if (!isShown || !question.before) return;
    const stopped = new AbortController();
    const waiting = setTimeout(() => {
      setError("");
      compare(question, stopped.signal).then(setFound, (failure) => stopped.signal.aborted || setError(failure.message));
    }, PATIENCE);
    return () => {
      clearTimeout(waiting);
      stopped.abort();
    };
  }, [isShown, question]);

  return (
    <div class="differences" hidden={!isShown}>
      <div class="toolbar">
        <span class="quiet">The definition before; after is the Karta. Both are asked about {question.suite ? "the suite" : "the examples"}.</span>
        <span class="grow" />
        <button type="button" disabled={!isServed} onClick={takeServed}>
          Take the served one
        </button>
      </div>
      <div class="before">{children}</div>
      {error ? <p class="empty" role="alert">{error}</p> : null}
      {question.before ? found && <Result found={found} /> : <p class="quiet pad">Paste the definition to compare with.</p>}
    </div>
  );
}

function Result({ found }: { found: Compared }) {
  const reason = found.unanswered ?? found.stopped;
  if (reason) return <p class="empty" role="alert">{prose(reason)}</p>;
  const shown = found.differences.length < found.number ? `, of which ${found.differences.length} are shown` : "";
  return (
    <>
      <p class="quiet pad-small" role="status">
        {found.calls} questions: {found.number} {found.number === 1 ? "answer differs" : "answers differ"}
        {shown}
      </p>
      {found.number ? (
        <div class="scroll pad-small" tabIndex={0} role="region" aria-label="Places that differ">
          <table>
            <thead>
              <tr>
                <th scope="col">field</th>
                <th scope="col">before</th>
                <th scope="col">after</th>
              </tr>
            </thead>
            <tbody>
              {found.differences.map((each) => (
                <Fragment>
                  <tr>
                    <th scope="rowgroup" colSpan={3}>
                      {each.operation}: {each.name}
                    </th>
                  </tr>
                  {each.places.map((place) => (
                    <tr>
                      <td><code>{place.path || "(the answer)"}</code></td>
                      <td>{side(place.before)}</td>
                      <td>{side(place.after)}</td>
                    </tr>
                  ))}
                </Fragment>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </>
  );
}

function side(value: Json | undefined) {
  return value === undefined ? <span class="quiet">nothing</span> : <code>{short(value)}</code>;
}
