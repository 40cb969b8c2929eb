const MAX_ROWS = 400;

interface Folder {
  readonly path: string;
  readonly folders: Map<string, Folder>;
  readonly files: string[];
  count: number;
}

/** Paths that match a pattern, one per line, with a note if they are cut. */
export function pathList(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_ROWS).join('\n');
  if (paths.length <= MAX_ROWS) return shown;
  return `${MAX_ROWS} of ${paths.length.toLocaleString('en-US')} files. Narrow the pattern to see others.\n${shown}`;
}

/**
 * The content of a folder: folders end with `/`, then their content. Folders without room for their content are shown
 * with the number of their files. @param paths of all files in it.
 */
export function folderListing(paths: readonly string[]): string {
  const root = folderTree(paths);
  const open = openFolders(root);
  const total = paths.length.toLocaleString('en-US');
  const rows = folderRows(root, open);
  const cut = rows.length > MAX_ROWS || rows.some((row) => row.endsWith(')'));
  const head = `${total} ${paths.length === 1 ? 'file' : 'files'}${cut ? ', not all of them shown. List a folder to see its content.' : '.'}`;
  return [head, ...rows.slice(0, MAX_ROWS)].join('\n');
}

function folderTree(paths: readonly string[]): Folder {
  const create = (path: string): Folder => ({ path, folders: new Map(), files: [], count: 0 });
  const root = create('');
  for (const path of paths) {
    let folder = root;
    folder.count += 1;
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      const name = path.slice(0, at + 1);
      const next = folder.folders.get(name) ?? create(name);
      folder.folders.set(name, next);
      folder = next;
      folder.count += 1;
    }
    folder.files.push(path);
  }
  return root;
}

/** The folders whose content is shown: as many as there is room for, the upper ones first. */
function openFolders(root: Folder): ReadonlySet<Folder> {
  const open = new Set([root]);
  const next = [root];
  let rows = root.folders.size + root.files.length;
  for (let at = 0; at < next.length; at += 1) {
    for (const folder of next[at]?.folders.values() ?? []) {
      const more = folder.folders.size + folder.files.length;
      if (rows + more > MAX_ROWS) continue;
      rows += more;
      open.add(folder);
      next.push(folder);
    }
  }
  return open;
}

function folderRows({ folders, files }: Folder, open: ReadonlySet<Folder>): readonly string[] {
  const rows: string[] = [];
  for (const folder of folders.values()) {
    if (open.has(folder)) rows.push(folder.path, ...folderRows(folder, open));
    else rows.push(`${folder.path} (${folder.count.toLocaleString('en-US')} ${folder.count === 1 ? 'file' : 'files'})`);
  }
  return [...rows, ...files];
}
