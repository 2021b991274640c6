/** Share links: the texts, compressed, in the fragment of the address, which browsers send nowhere. */

import type { Question } from "./api";

const NAME = "share=";

export async function toLink(question: Question): Promise<string> {
  const given = Object.fromEntries(Object.entries(question).filter(([, value]) => value !== "" && value !== null));
  const packed = await through(new Blob([JSON.stringify(given)]), new CompressionStream("deflate-raw"));
  const binary = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  const text = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `${location.origin}/#${NAME}${text}`;
}

export async function fromLink(fragment: string): Promise<Partial<Question> | null> {
  const text = fragment.replace(/^#/, "");
  if (!text.startsWith(NAME)) return null;
  const binary = atob(text.slice(NAME.length).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const unpacked = await through(new Blob([bytes]), new DecompressionStream("deflate-raw"));
  return JSON.parse(new TextDecoder().decode(unpacked)) as Partial<Question>;
}

async function through(blob: Blob, transform: GenericTransformStream): Promise<Uint8Array<ArrayBuffer>> {
  const stream = blob.stream().pipeThrough(transform as ReadableWritablePair<Uint8Array, Uint8Array<ArrayBuffer>>);
  return new Uint8Array(await new Response(stream as ReadableStream).arrayBuffer());
}
