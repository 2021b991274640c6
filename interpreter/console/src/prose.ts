/** Messages of the program, in which backticks mark code. */

import { h, render, type VNode } from "preact";

/** A message with its code as elements. */
export function prose(message: string): (string | VNode)[] {
  return message.split(/`([^`]+)`/).map((part, index) => (index % 2 ? h("code", null, part) : part));
}

/** The same for a library that takes nodes of the page. */
export function inCode(message: string): HTMLElement {
  const place = document.createElement("span");
  render(prose(message), place);
  return place;
}
