/** Completion of Kartas from their JSON Schema: fields with their descriptions, and values of enumerations. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Text } from "@codemirror/state";
import type { Json, Path } from "./api";

export interface Schema {
  [key: string]: unknown;
  $ref?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: Json[];
  const?: Json;
  type?: string | string[];
  description?: string;
  definitions?: Record<string, Schema>;
}

const LINE = /^( *)((?:- +)*)(?:("[^"]*"|'[^']*'|[^\s:#'"][^:#]*?) *:(?: +(.*))?)?$/;
const KEY = /^( *)((?:- +)*)([\w./-]*)$/;
const VALUE = /^( *)((?:- +)*)([^\s:#'"][^:#]*?) *: +([\w.-]*)$/;

interface Line {
  dashes: number[];
  column: number;
  key: string;
}

/** Offer what the schema allows where the cursor is. */
export function completeFrom(schema: Schema) {
  return (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const value = VALUE.exec(before);
    const key = value ? null : KEY.exec(before);
    const match = value ?? key;
    if (!match || (key && !key[3] && !context.explicit && !key[2])) return null;
    const [, spaces = "", dashes = "", name = "", typed = ""] = match;
    const at = { dashes: columns(spaces, dashes), column: spaces.length + dashes.length, key: name };
    const path = [...pathAbove(context.state.doc, line.number, at), ...(value ? [name] : [])];
    const found = path.reduce((schemas, step) => schemas.flatMap((each) => below(each, step, schema)), all(schema, schema));
    const word = value ? typed : name;
    const options = value ? found.flatMap(values) : found.flatMap((each) => fields(each, at.column, schema));
    const unique = [...new Map(options.map((option) => [option.label, option])).values()];
    return unique.length ? { from: context.pos - word.length, options: unique, validFor: /^[\w./-]*$/ } : null;
  };
}

const PATH = /(?:^|[\s("'|,;])((?:\.(?:[\w-]+|\[\]|\["[^"]*"\]?)?(?:\[\])?)+)$/;
const OUTER = /(?:^|[\s("',;])(\.[^\s|]*) *\| *$/;

/** Offer the fields that a CRD has, behind a pipe those of what is piped. */
export function completePaths(paths: () => Path[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const typed = PATH.exec(before)?.[1];
    if (typed === undefined || !before.includes(":")) return null;
    const outer = OUTER.exec(before.slice(0, before.length - typed.length))?.[1] ?? "";
    const inner = paths().filter(([jq]) => jq.startsWith(outer) && jq.length > outer.length);
    const options = inner.map(([jq, type]) => ({ label: short(jq.slice(outer.length)), type: "property", detail: type }));
    return { from: context.pos - typed.length, options, validFor: /^[\w.[\]"-]*$/ };
  };
}

function short(jq: string): string {
  return jq.startsWith("[") ? `.${jq}` : jq;
}

function columns(spaces: string, dashes: string): number[] {
  return [...dashes.matchAll(/-/g)].map((found) => spaces.length + found.index);
}

/** The keys from the root to the place of a line; "-" stands for an element of a list. */
function pathAbove(doc: Text, number: number, at: Line): string[] {
  const steps: string[] = [];
  let limit = at.column;
  let inList = false;
  const enter = (dashes: number[]) => {
    for (const dash of dashes.toReversed()) {
      if (dash >= limit) continue;
      steps.unshift("-");
      limit = dash;
      inList = true;
    }
  };
  enter(at.dashes);
  for (let above = number - 1; above > 0 && (limit > 0 || inList); above -= 1) {
    const text = doc.line(above).text;
    if (/^---/.test(text)) break;
    const match = LINE.exec(text.trimEnd());
    if (!match || !text.trim() || text.trimStart().startsWith("#")) continue;
    const [, spaces = "", marks = "", key = "", rest = ""] = match;
    const dashes = columns(spaces, marks);
    const column = spaces.length + marks.length;
    const isParent = key && !rest && (column < limit || (inList && !dashes.length && column === limit));
    if (isParent) {
      steps.unshift(key.replace(/^["']|["']$/g, ""));
      limit = column;
      inList = false;
      enter(dashes);
    } else if (dashes.some((dash) => dash < limit) && column <= limit) {
      enter(dashes);
    }
  }
  return steps;
}

/** A schema with those that it refers to. */
function all(schema: Schema, root: Schema): Schema[] {
  const named = schema.$ref ? root.definitions?.[schema.$ref.replace(/^#\/definitions\//, "")] : undefined;
  const parts = [...(named ? [named] : []), ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return [schema, ...parts.flatMap((part) => all(part, root))];
}

function below(schema: Schema, step: string, root: Schema): Schema[] {
  const other = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  const found = step === "-" ? schema.items : (schema.properties?.[step] ?? other);
  return found ? all(found, root) : [];
}

function fields(schema: Schema, column: number, root: Schema): Completion[] {
  return Object.entries(schema.properties ?? {}).map(([label, field]) => {
    const parts = all(field, root);
    const type = parts.map((part) => part.type).find(Boolean);
    const start = type === "object" ? `\n${" ".repeat(column + 2)}` : type === "array" ? `\n${" ".repeat(column)}- ` : " ";
    const info = parts.map((part) => part.description).find(Boolean);
    const name = /^[\w./-]+$/.test(label) ? label : JSON.stringify(label);
    return { label, type: "property", detail: String(type ?? ""), apply: `${name}:${start}`, ...(info ? { info } : {}) };
  });
}

function values(schema: Schema): Completion[] {
  const listed = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const known = listed.length ? listed : schema.type === "boolean" ? [true, false] : [];
  return known.map((value) => ({ label: String(value), type: "enum" }));
}
