import { text } from './fields.ts';
import type { Rule } from './schema-rules.ts';
import { ReferencedSecret } from './secret.ts';

/** Whether a rule finds no fault in a text, a number, a boolean or null. */
export function fits(value: unknown, rule: Rule): boolean {
  const type = typeOf(value);
  const branch = branchFor(value, type, rule);
  return branch !== undefined && scalarFits(value, type, branch);
}

/** The JSON type of a value as a schema names it; what came through a reference is text. */
export function typeOf(value: unknown): string {
  if (typeof value !== 'object') return typeof value;
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return value instanceof ReferencedSecret ? 'string' : 'object';
}

/** The alternative that the value's JSON type picks. */
export function branchFor(value: unknown, type: string, rule: Rule): Rule | undefined {
  if (rule.branches === undefined) return isOf(value, type, rule) ? rule : undefined;
  for (let index = 0; index < rule.branches.length; index += 1) {
    const branch = rule.branches[index];
    if (branch !== undefined && isOf(value, type, branch)) return branch;
  }
  return undefined;
}

function isOf(value: unknown, type: string, rule: Rule): boolean {
  if (rule.constant !== undefined) return value === rule.constant;
  if (rule.type === type || rule.type === '') return true;
  return rule.type === 'integer' && Number.isSafeInteger(value);
}

/** Whether a value of a branch's own type fits in all else; what nests is looked into by others. */
export function scalarFits(value: unknown, type: string, rule: Rule): boolean {
  if (type === 'object' || type === 'array') return true;
  const scalar = typeof value === 'object' && value !== null ? text(value) : value;
  if (rule.choices !== undefined && !rule.choices.includes(scalar)) return false;
  if (typeof scalar === 'string') {
    return scalar.length >= rule.minLength && (rule.pattern === undefined || rule.pattern.test(scalar));
  }
  if (typeof value !== 'number') return true;
  return value >= rule.minimum && value <= rule.maximum && value > rule.above;
}
