import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { LanguageService, TypeScript } from './typescript.ts';

/** Sources of a package as they were written, with what TypeScript knows of them. */
export interface Project {
  readonly name: string;
  /** Absolute. */
  readonly root: string;
  /** Relative to the root. */
  readonly files: readonly string[];
  /** Of packages of npm. */
  readonly service?: LanguageService;
  /** Of fixtures: where each name is declared. */
  readonly names?: ReadonlyMap<string, { readonly file: string; readonly line: number; readonly character: number }>;
  /** Absent: by the ending of a file. */
  readonly languageId?: string;
  /** Text of a file, relative to the root. */
  text(file: string): string;
  /** Replaces the text that the language service sees. Undefined: as on disk. */
  overlay(file: string, text: string | undefined): void;
  /** The text with its overlay, of fixtures. */
  seen?(file: string): string;
}

/** Packages that ship their sources. */
const PACKAGES = [
  { name: 'katex', folder: 'src' },
  { name: 'rxjs', folder: 'src/internal' },
] as const;

export function loadProjects(ts: TypeScript): readonly Project[] {
  return PACKAGES.map(({ name, folder }) => loadProject(ts, name, folder));
}

function loadProject(ts: TypeScript, name: string, folder: string): Project {
  const root = packageRoot(name);
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|js)$/.test(file) && !/(?:^|\/)(?:fonts|metrics)\//.test(file))
    .map((file) => `${folder}/${file}`)
    .sort();
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const overlays = new Map<string, string>();
  const versions = new Map<string, number>();
  const text = (file: string) => texts.get(file) ?? '';
  const options = {
    allowJs: true,
    strict: true,
    target: 99,
    module: 99,
    moduleResolution: 100,
    noEmit: true,
    types: [],
  };
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => files.map((file) => join(root, file)),
    getScriptVersion: (path: string) => String(versions.get(relative(root, path)) ?? 0),
    getScriptSnapshot: (path: string) => {
      const own = relative(root, path);
      const content = overlays.get(own) ?? texts.get(own) ?? ts.sys.readFile(path);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (each: object) => ts.getDefaultLibFilePath(each),
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
  });
  return {
    name,
    root,
    files,
    service,
    text,
    overlay: (file, content) => {
      if (content === undefined) overlays.delete(file);
      else overlays.set(file, content);
      versions.set(file, (versions.get(file) ?? 0) + 1);
    },
  };
}

/** The folder of an installed package. Its package.json need not be exported. */
function packageRoot(name: string): string {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  while (!folder.endsWith(`node_modules/${name}`)) folder = dirname(folder);
  return folder;
}
