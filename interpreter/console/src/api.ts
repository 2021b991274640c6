/** The JSON API of the console: its documents, and requests with the token of this run. */

export type Position = [line: number, column: number];
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Finding {
  severity: "error" | "warning";
  rule: string;
  path: string;
  message: string;
  hint: string;
  line: number;
  column: number;
  expression: string;
  source: string;
}

export type TextName = "karta" | "object" | "observed" | "items" | "references" | "crd" | "suite";
export type Texts = Record<TextName, string>;

export interface Place {
  pointer: string;
  exists: boolean;
  value?: Json;
  text: TextName;
  cluster?: string;
  at?: Position;
}

export interface Fact {
  rule: string;
  note: string;
  answer?: string;
  component?: string;
  instance?: string;
  field?: string;
  expression?: string;
  value?: Json;
  places?: Place[];
  writes?: string[];
  severity?: string;
  at?: Position;
  writesAt?: Position[];
}

export interface Change {
  op: "add" | "remove" | "replace";
  path: string;
  value?: Json;
  old?: Json;
}

export interface Answer {
  operation: string;
  missing?: string;
  error?: string;
  results?: Record<string, Json>;
  patch?: Change[];
  facts: Fact[];
  layers: { name: string; answers: boolean; note: string }[];
  printed?: string[];
}

/** An instance of a component. `requirements` are there if the object describes its pods. */
export interface Instance {
  instanceKey?: string;
  replicas: number;
  scale?: { minReplicas?: number; maxReplicas?: number };
  requirements?: { resourceRequest?: Record<string, string> };
}

/** Pods that are placed together or not at all. `minimum` is there if it is known without pods. */
export interface Group {
  name: string;
  members: string[];
  groupBy: string[];
  minimum?: number;
}

export interface Component {
  name: string;
  kind?: { kind: string };
  hasPodDefinition: boolean;
  instances: Instance[];
  children?: Component[];
}

/** What the Karta makes of a case of the suite. */
export interface CaseResult {
  line: number;
  column: number;
  name: string;
  failures: string[];
}

/** A field that a CRD has: its jq path and its type. */
export type Path = [jq: string, type: string];

export interface Page {
  findings: Finding[];
  problems: Partial<Record<TextName, { message: string; line: number; column: number }>>;
  answers: Answer[];
  cases?: CaseResult[];
  apiVersion?: string;
  kind?: string;
  definition?: string;
  references?: string[];
  replicas?: number;
  unanswered?: string;
  stopped?: string;
  case?: string;
  paths?: Path[] | null;
  tree?: { error?: string; status?: string[]; replicas?: number; root?: Component; groups?: Group[] };
}

export interface Question extends Texts {
  replicas: number | null;
  options: { resourceQuotaEstimate: boolean; podRequests: "scheduler" | "karmada" };
}

export interface Row {
  apiVersion: string;
  kind: string;
  definition: string;
  origin: string;
  writtenFrom: string;
  operations: string[];
  operationsWithMultiplePodTemplatesScheduling: string[];
  components: string[];
  suspend: boolean;
  scripts: string[];
  compared: number;
}

export interface Example {
  operation: string;
  name: string;
  description: string;
  replicas: number | null;
  object: string;
  observed: string;
  items: string;
  references: string;
}

export interface Comparison {
  controller: string;
  cases: number;
  comparisons: number;
  subjects: Record<string, number>;
  accepted: number;
}

export interface Kind extends Omit<Row, "compared" | "components" | "suspend"> {
  text: string;
  findings: Finding[];
  compared: Comparison[];
  examples: Example[];
  reports: { name: string; text: string }[];
  components: Record<string, Json>[];
  statuses: { status: string; when: string }[];
  healthy: string[];
  gate: string;
  indivisible: boolean;
  retain: string[];
  suspend: string[];
  resume: string[];
  queueLabels: string[];
  dependencies: string[];
  references: string[];
  gangScheduling: string[];
}

export interface Start {
  version: string;
  texts: { karta: string; object: string; kind: string };
  example: { karta: string; object: string };
  hasMember: boolean;
}

interface Judgement {
  apiVersion: string;
  kind: string;
  question: string;
  reason?: string;
  field?: string;
  fix?: string;
}

/** What `verify` says about a saved folder. */
export interface Member {
  results: (Judgement & { object: string; verdict: string; detail?: string })[];
  causes: (Judgement & { objects: string[]; of: number })[];
  kinds: { apiVersion: string; kind: string; objects: number; ok: number; differs: number; unjudged: number }[];
  problems: string[];
}

/** The token of this run. */
export function token(): string {
  return localStorage.getItem(STORED) ?? "";
}

const STORED = "karta-console-token";

/** Take the token from the fragment of the address into the storage of this origin, and out of the address. */
export function takeToken(): void {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    localStorage.setItem(STORED, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export async function get<T>(path: string): Promise<T> {
  return request<T>(path, {});
}

export async function ask(question: Question, signal: AbortSignal): Promise<Page> {
  return post<Page>(question, { signal });
}

/** The answer to one operation as a case of a suite. */
export async function writeCase(question: Question, operation: string): Promise<string> {
  return (await post<Page>({ ...question, case: operation }, {})).case ?? "";
}

async function post<T>(question: Question & { case?: string }, options: RequestInit): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return request<T>("/api/answers", { ...options, method: "POST", body: JSON.stringify(question), headers });
}

async function request<T>(path: string, options: RequestInit): Promise<T> {
  const headers = { ...options.headers, Authorization: `Bearer ${token()}` };
  const response = await fetch(path, { ...options, headers }).catch((error) => {
    if (options.signal?.aborted) throw error;
    throw new Error("the console does not answer; if its command has ended, start it again and open the new address");
  });
  if (response.status === 413) throw new ApiError(413, "the texts have more than 4 MB together");
  const document = await response.json();
  if (!response.ok) throw new ApiError(response.status, document.error ?? response.statusText);
  return document as T;
}
