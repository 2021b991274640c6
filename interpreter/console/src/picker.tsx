/** A list to choose from: typing narrows it, arrows move in it, and only Enter or a click chooses. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Choice {
  value: string;
  text: string;
  note?: string;
}

export function Picker(props: { label: string; choices: Choice[]; shown: string; placeholder: string; isWide?: boolean; choose: (value: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null); // null: the list shows all
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const found = isOpen ? matching(props.choices, typed ?? "") : [];
  const id = props.label.replaceAll(/\W/g, "-");

  const open = (text: string | null) => {
    setTyped(text);
    setOpen(true);
    setActive(0);
  };
  const close = () => {
    setTyped(null);
    setOpen(false);
  };
  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    close();
    props.choose(choice.value);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !isOpen) open(null);
    else if (step && found.length) setActive((active + step + found.length) % found.length);
    else if (event.key === "Enter" && isOpen) choose(found[active]);
    else if (event.key === "Escape" && isOpen) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  // The list scrolls, and nothing around it.
  useLayoutEffect(() => {
    const [place, option] = [list.current, list.current?.children[active] as HTMLElement | undefined];
    if (!place || !option) return;
    if (option.offsetTop < place.scrollTop) place.scrollTop = option.offsetTop;
    const below = option.offsetTop + option.offsetHeight - place.clientHeight;
    if (below > place.scrollTop) place.scrollTop = below;
  });

  return (
    <div class={`picker ${props.isWide ? "wide" : ""}`}>
      <input
        type="text"
        role="combobox"
        aria-label={props.label}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `choices-${id}` : undefined}
        aria-activedescendant={found.length ? `choice-${id}-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={props.placeholder}
        value={typed ?? props.shown}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => !isOpen && open(null)}
        onInput={(event) => open(event.currentTarget.value)}
        onKeyDown={press}
        onBlur={close}
      />
      {isOpen ? (
        <ul role="listbox" id={`choices-${id}`} aria-label={`${props.label}: choices`} ref={list} onMouseDown={(event) => event.preventDefault()}>
          {found.map((choice, index) => (
            <li role="option" id={`choice-${id}-${index}`} aria-selected={index === active} data-value={choice.value} onClick={() => choose(choice)}>
              {choice.text} <span class="quiet">{choice.note}</span>
            </li>
          ))}
          {found.length ? null : (
            <li role="option" aria-disabled="true" aria-selected={false} class="quiet">
              nothing of this name
            </li>
          )}
        </ul>
      ) : null}
    </div>
  );
}

/** The choices that have all typed words. One that is or begins with the typed text comes first. */
function matching(choices: Choice[], typed: string): Choice[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/);
  const found = choices.filter((choice) => {
    const whole = `${choice.text} ${choice.note ?? ""} ${choice.value}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const rank = (choice: Choice) => {
    const name = choice.text.toLowerCase();
    return name === text ? 0 : name.startsWith(text) ? 1 : 2;
  };
  return text ? found.toSorted((one, other) => rank(one) - rank(other)) : found;
}
