/** An editor of YAML: colours, line numbers, findings at their lines, and places that light up. */

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml, yamlLanguage } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentUnit,
  syntaxHighlighting,
  syntaxTree,
} from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Path, Position } from "./api";
import { completeFrom, completePaths, type Schema } from "./completion";
import { inCode } from "./prose";

export type Light = { at: Position; kind: "expression" | "read" | "written" | "absent" };
export type Note = { line: number; column: number; severity: "error" | "warning"; message: string; path?: string; rule?: string };

const setLights = StateEffect.define<DecorationSet>();
const lights = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (shown, transaction) =>
    transaction.effects.reduce(
      (kept, effect) => (effect.is(setLights) ? effect.value : kept),
      shown.map(transaction.changes),
    ),
  provide: (field) => EditorView.decorations.from(field),
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: "tok-key" },
  { tag: [tags.string, tags.special(tags.string)], class: "tok-text" },
  { tag: [tags.content, tags.attributeValue], class: "tok-plain" },
  { tag: [tags.lineComment, tags.comment], class: "tok-comment" },
  { tag: [tags.meta, tags.keyword, tags.labelName, tags.typeName], class: "tok-meta" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], class: "tok-mark" },
]);

export function createEditor(
  parent: HTMLElement,
  label: string,
  text: string,
  changed: (text: string) => void,
  completed?: { schema: Schema; paths: () => Path[] },
): EditorView {
  const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        drawSelection(),
        indentUnit.of("  "),
        EditorState.tabSize.of(2),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        autocompletion({ icons: false }),
        yaml(),
        ...(completed
          ? [completeFrom(completed.schema), completePaths(completed.paths)].map((autocomplete) => yamlLanguage.data.of({ autocomplete }))
          : []),
        syntaxHighlighting(colours),
        lights,
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...completionKeymap,
          ...lintKeymap,
          indentWithTab,
        ]),
        EditorView.domEventHandlers({ beforeinput: insertLines }),
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": `${label}; press Escape, then Tab to leave` }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
      ],
    }),
  });
}

/**
 * Insert lines that come at once without a paste, as from a screen keyboard or an automation.
 *
 * The browser would insert them into the page, each with an inline style, which the Content-Security-Policy refuses.
 */
function insertLines(event: InputEvent, view: EditorView): boolean {
  if (!event.data?.includes("\n")) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.paste", scrollIntoView: true });
  return true;
}

export function setText(view: EditorView, text: string): void {
  if (view.state.doc.toString() !== text) {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }
}

/** Show findings; each is underlined from its place to the end of the value or the line. */
export function showNotes(view: EditorView, notes: Note[]): void {
  const { doc } = view.state;
  const diagnostics = notes.map((note): Diagnostic => {
    const [from, last] = range(view, note);
    const to = Math.min(Math.max(last, from + 1), Math.max(doc.lineAt(from).to, from));
    return { from, to, severity: note.severity, message: note.message, renderMessage: () => inCode(note.message) };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
  // The list of findings below may have taken the place of the line that is typed in.
  if (view.hasFocus) view.dispatch({ effects: EditorView.scrollIntoView(view.state.selection.main) });
}

/** What a note is about: the key where that is wrong, or where its value is on lines of its own; else the value. */
function range(view: EditorView, note: Note): [from: number, to: number] {
  const at = offset(view, [Math.max(note.line, 1), Math.max(note.column, 1)]);
  const before = view.state.doc.sliceString(0, at);
  if (view.state.doc.sliceString(at, at + 1) === ":") return [at - (/[^\s:]*$/.exec(before)?.[0].length ?? 0), at];
  const key = /([^.[\]"]+)"?\]?$/.exec(note.path ?? "")?.[1];
  const found = key ? before.lastIndexOf(key) : -1;
  const isOfKey = note.rule === "unknown-field" || /^\S*:[^\S\n]*(#.*)?\n\s*(#.*\n\s*)*(- *)?$/.test(before.slice(found));
  return key && found >= 0 && isOfKey ? [found, found + key.length] : [at, end(view, at)];
}

/** Light up values, and bring the first one into view. */
export function lightUp(view: EditorView, places: Light[]): void {
  const ranges = places.flatMap(({ at, kind }) => {
    const from = offset(view, at);
    const to = kind === "absent" ? view.state.doc.lineAt(from).to : end(view, from);
    return to > from ? [Decoration.mark({ class: `lit lit-${kind}` }).range(from, to)] : [];
  });
  const first = ranges.length ? Math.min(...ranges.map((range) => range.from)) : null;
  view.dispatch({ effects: setLights.of(Decoration.set(ranges, true)) });
  if (first !== null) scrollTo(view, first);
}

/** Scroll the editor, and nothing around it, so that an offset is visible. */
function scrollTo(view: EditorView, at: number): void {
  const { top, bottom } = view.lineBlockAt(at);
  const { scrollDOM } = view;
  if (top < scrollDOM.scrollTop || bottom > scrollDOM.scrollTop + scrollDOM.clientHeight) {
    scrollDOM.scrollTop = Math.max(0, top - scrollDOM.clientHeight / 3);
  }
}

function offset(view: EditorView, [line, column]: Position): number {
  const { doc } = view.state;
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(found.from + column - 1, found.to);
}

/** The end of the value that begins at an offset: of the largest node of the syntax tree that begins there. */
function end(view: EditorView, from: number): number {
  let node = syntaxTree(view.state).resolveInner(from, 1);
  while (node.parent && node.parent.from === from && !["Document", "Stream"].includes(node.parent.name)) {
    node = node.parent;
  }
  return node.from === from ? node.to : view.state.doc.lineAt(from).to;
}
