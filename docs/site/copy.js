// A button on each block of code that copies it: of a console block only the commands, without their output.
document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const pre of document.querySelectorAll("article div.highlight > pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(copied(pre));
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    pre.before(button);
  }
});

function copied(pre) {
  const text = pre.textContent;
  if (!pre.closest(".highlight-console")) return text;
  const commands = text.match(/^\$ .*(\n> .*)*/gm) ?? [];
  return commands.map((command) => `${command.replace(/^[$>] /gm, "")}\n`).join("");
}
