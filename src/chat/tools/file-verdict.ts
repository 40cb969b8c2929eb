import type { Caution } from '../message-parts.ts';
import { judge, type RuleTexts } from '../permissions/permission-rules.ts';
import type { NamedFile } from './tools.ts';

/** The decision of rules and kinds of files about the files that a call names, before any of them is opened. */
export type FileVerdict =
  | { readonly type: 'deny'; readonly rule: string }
  | {
      readonly type: 'open';
      /** A rule asks about one of the files. */
      readonly asks: boolean;
      readonly caution?: Caution;
      /** Without a permission, the model must not learn anything from the contents of these files. */
      readonly hides: boolean;
    };

/** The only judgement about files that a call names, for our tools and for those of extensions and MCP servers. */
export function judgeFiles(files: readonly NamedFile[], rules: RuleTexts): FileVerdict {
  let asks = false;
  let hides = false;
  for (const { path, access, secret } of files) {
    hides ||= secret === true;
    for (const kind of access) {
      const verdict = judge([{ kind, path }], rules);
      if (verdict.effect === 'deny') return { type: 'deny', rule: verdict.rule };
      if (verdict.effect !== 'ask') continue;
      asks = true;
      hides ||= kind === 'read';
    }
  }
  const caution = files.find((file) => file.caution)?.caution;
  return { type: 'open', asks, hides, ...(caution ? { caution } : {}) };
}
