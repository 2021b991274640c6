/** Bundle the page into the Python package, with the licences of what is in the bundle. */

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const OUT = "../karta_interpreter/web/console/static";

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
const { metafile } = await build({
  entryPoints: ["src/main.tsx"],
  outdir: OUT,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) cpSync(name, `${OUT}/${name}`);

const folders = Object.keys(metafile.inputs).map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
const texts = [...new Set(folders)].filter(Boolean).sort().map((name) => {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf-8"));
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "license"].map((each) => `${folder}/${each}`).find(existsSync);
  if (!file) throw new Error(`${name} has no text of its licence`);
  return `${name} ${version} (${license})\n\n${readFileSync(file, "utf-8").trim()}\n`;
});
writeFileSync(`${OUT}/licenses.txt`, texts.join(`\n${"-".repeat(80)}\n\n`));
