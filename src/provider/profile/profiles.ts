import { FAMILY_PROFILES } from './families.ts';
import { BASE_RULES, FORMAT_PROFILES } from './formats.ts';
import type { ModelIdentity, Profile, Rules } from './rules.ts';
import { VENDOR_PROFILES } from './vendors.ts';

/** All profiles. A later one overrides the rows of an earlier one. */
export const PROFILES: readonly Profile[] = [...FORMAT_PROFILES, ...VENDOR_PROFILES, ...FAMILY_PROFILES];

/** A model never changes: a new configuration has new ones. Each request asks for its rules several times. */
const known = new WeakMap<ModelIdentity, Rules>();

/** The rules of a model's upstream: those of its format, then of its vendor, then of its family. */
export function rulesOf(model: ModelIdentity): Rules {
  let rules = known.get(model);
  if (rules === undefined) {
    rules = findRules(model);
    known.set(model, rules);
  }
  return rules;
}

function findRules(model: ModelIdentity): Rules {
  let rules = BASE_RULES;
  for (const { covers, rows } of PROFILES) {
    if (covers(model)) for (const { value } of rows) rules = { ...rules, ...value, ...joinLists(rules, value) };
  }
  return rules;
}

/** The refusals of a vendor and of a family add up. */
function joinLists(rules: Rules, { refused, refusedInMessages, refusedInTools }: Partial<Rules>): Partial<Rules> {
  if (refused) return { refused: [...rules.refused, ...refused] };
  if (refusedInMessages) return { refusedInMessages: [...rules.refusedInMessages, ...refusedInMessages] };
  return refusedInTools ? { refusedInTools: [...rules.refusedInTools, ...refusedInTools] } : {};
}
