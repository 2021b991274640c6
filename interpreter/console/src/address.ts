/** The address of a view: what it shows is in the query, which the page reads once and writes as it changes. */

export function inAddress(name: string): string {
  return new URLSearchParams(location.search).get(name) ?? "";
}

/** Write values into the query of the address. An empty one leaves it. */
export function toAddress(values: Record<string, string>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString().replaceAll("%2F", "/");
  history.replaceState(history.state, "", `${location.pathname}${text ? `?${text}` : ""}${location.hash}`);
}
