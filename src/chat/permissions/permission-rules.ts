import { IgnorePatterns } from '../../base/ignore-patterns.ts';
import {
  type CommandRules,
  type JudgedCommand,
  judgeCommand,
  offeredPrefixes,
  type Verdict,
} from './command-verdict.ts';
import { parseRule, unreadableRestrictions } from './rule-syntax.ts';

export const EFFECTS = ['allow', 'ask', 'deny'] as const;
export type Effect = (typeof EFFECTS)[number];

/**
 * Rules as texts: `edit:src/**`, `delete:**`, `read:*.pem` (patterns as in `.gitignore`), `command:npm test` (the first
 * words of a command), `fetch:https://example.com` (an origin), `tool:GitHub/create_issue` (origin and name).
 */
export type RuleTexts = Readonly<Record<Effect, readonly string[]>>;

export const NO_RULES: RuleTexts = { allow: [], ask: [], deny: [] };

/** The parts of a call that rules are about. */
export type Subject =
  | { readonly kind: 'read' | 'edit' | 'delete'; readonly path: string }
  /** `reads`: the files that the command names. Rules can ask about them and deny them; none must be allowed. */
  | ({ readonly kind: 'command'; readonly reads?: readonly string[] } & JudgedCommand)
  | { readonly kind: 'fetch'; readonly origin: string }
  /** `names`: other names of the tool, by which rules can ask about it and deny it. */
  | { readonly kind: 'tool'; readonly key: string; readonly names?: readonly string[] };

/** Joins rules, for example those of the settings with those of a conversation. */
export function joinRules(...all: readonly RuleTexts[]): RuleTexts {
  return {
    allow: all.flatMap(({ allow }) => allow),
    ask: all.flatMap(({ ask }) => ask),
    deny: all.flatMap(({ deny }) => deny),
  };
}

/** The verdict about a call. One denied subject denies it; all must be allowed. */
export function judge(subjects: readonly Subject[], rules: RuleTexts): Verdict {
  const verdicts = subjects.map((subject) => judgeSubject(subject, rules));
  const denied = verdicts.find(({ effect }) => effect === 'deny');
  if (denied) return denied;
  if (verdicts.some(({ effect }) => effect === 'ask')) return { effect: 'ask' };
  // Its restrictions are not known.
  if (unreadableRestrictions(rules).length > 0) return { effect: 'ask' };
  const allowed = verdicts.length > 0 && verdicts.every(({ effect }) => effect === 'allow');
  return { effect: allowed ? 'allow' : 'none' };
}

/** The rules that allow a call from now on; undefined: none is offered. */
export function offeredRules(subjects: readonly Subject[], rules: RuleTexts): readonly string[] | undefined {
  // It would have no effect.
  if (judge(subjects, rules).effect === 'ask') return undefined;
  const offered: string[] = [];
  for (const subject of subjects) {
    if (judgeSubject(subject, rules).effect === 'allow') continue;
    const missing = missingRules(subject, rules);
    if (missing === undefined) return undefined;
    offered.push(...missing);
  }
  return offered.length === 0 ? undefined : [...new Set(offered)];
}

function judgeSubject(subject: Subject, rules: RuleTexts): Verdict {
  if (subject.kind === 'command') return judgeCommandWithFiles(subject, rules);
  const denied = rules.deny.find((text) => restricts(text, subject));
  if (denied !== undefined) return { effect: 'deny', rule: denied };
  if (rules.ask.some((text) => restricts(text, subject))) return { effect: 'ask' };
  return { effect: rules.allow.some((text) => covers(text, subject)) ? 'allow' : 'none' };
}

/** A file has an absolute path if the name of its workspace folder is ambiguous. Rules have the path in the folder. */
function restricts(text: string, subject: Exclude<Subject, { kind: 'command' }>): boolean {
  if (covers(text, subject)) return true;
  if (subject.kind === 'tool') return (subject.names ?? []).some((key) => covers(text, { kind: 'tool', key }));
  if (!('path' in subject) || !/^(?:[\\/]|[A-Za-z]:[\\/])/.test(subject.path)) return false;
  const names = subject.path.split(/[\\/]/);
  return names.some((name, first) => name !== '' && covers(text, { ...subject, path: names.slice(first).join('/') }));
}

function judgeCommandWithFiles(subject: Extract<Subject, { kind: 'command' }>, rules: RuleTexts): Verdict {
  const verdict = judgeCommand(subject, commandRules(rules));
  if (verdict.effect === 'deny') return { effect: 'deny', rule: `command:${verdict.rule}` };
  const files = (subject.reads ?? []).map((path) => judgeSubject({ kind: 'read', path }, rules));
  const denied = files.find(({ effect }) => effect === 'deny');
  if (denied) return denied;
  return files.some(({ effect }) => effect === 'ask') ? { effect: 'ask' } : verdict;
}

function covers(text: string, subject: Exclude<Subject, { kind: 'command' }>): boolean {
  const rule = parseRule(text);
  if (rule?.kind !== subject.kind) return false;
  if (subject.kind === 'fetch') return rule.value === subject.origin;
  if (subject.kind === 'tool') return rule.value === subject.key;
  return new IgnorePatterns(rule.value).ignores(subject.path);
}

function commandRules(rules: RuleTexts): CommandRules {
  const commands = (texts: readonly string[]) =>
    texts.flatMap((text) => {
      const rule = parseRule(text);
      return rule?.kind === 'command' ? rule.value : [];
    });
  return { allow: commands(rules.allow), ask: commands(rules.ask), deny: commands(rules.deny) };
}

function missingRules(subject: Subject, rules: RuleTexts): readonly string[] | undefined {
  switch (subject.kind) {
    case 'command':
      return offeredPrefixes(subject, commandRules(rules))?.map((prefix) => `command:${prefix}`);
    case 'fetch':
      return [`fetch:${subject.origin}`];
    case 'tool':
      return [`tool:${subject.key}`];
    default:
      return [`${subject.kind}:**`];
  }
}
