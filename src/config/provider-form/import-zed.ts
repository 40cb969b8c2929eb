import { defined, nonEmptyString, ownEntry } from '../../base/json.ts';
import { withoutTrailing } from '../../base/text.ts';
import {
  asList,
  BASES,
  type Fields,
  type Imported,
  type ImportedProvider,
  local,
  readFields,
} from './import-fields.ts';
import { EMPTY_FORM, proposedId } from './provider-form.ts';

/** Zed's names of vendors that differ. */
const VENDORS: Readonly<Record<string, string>> = { open_router: 'openrouter', x_ai: 'xai', google: 'gemini' };

/**
 * Zed (zed.dev/docs/ai): `language_models` has a vendor's address and models; `openai_compatible` has further providers
 * by name. `agent.default_model` and `edit_predictions` name the used models. Keys are in the system's key store.
 */
export function fromZed(settings: Fields): Imported {
  const { openai_compatible: compatible, ...vendors } = readFields(settings.language_models);
  const chosen = readFields(readFields(settings.agent).default_model);
  const predictions = readFields(settings.edit_predictions);
  const completion = nonEmptyString(readFields(predictions.ollama).model);
  const providers: ImportedProvider[] = [];
  const notes: string[] = [];
  const add = (name: string, value: unknown, known: boolean) => {
    const vendor = known ? ownEntry(BASES, VENDORS[name] ?? name) : undefined;
    const { api_url: address, available_models: models } = readFields(value);
    const baseURL = nonEmptyString(address) ?? vendor?.baseURL;
    if (baseURL === undefined) {
      notes.push(`${name}: its address is not in the file.`);
      return;
    }
    const chat = chosen.provider === name ? nonEmptyString(chosen.model) : undefined;
    const uses = {
      ...defined({ chat }),
      ...(vendor?.id === 'ollama' && completion !== undefined ? { completion } : {}),
    };
    const rows = asList(models ?? []).flatMap((model) => {
      const { name: id, display_name: shown } = readFields(model);
      return nonEmptyString(id) === undefined ? [] : [{ id: String(id), name: nonEmptyString(shown) ?? '' }];
    });
    providers.push({
      ...EMPTY_FORM,
      id: vendor?.id ?? (proposedId(name) || 'imported'),
      name: vendor === undefined ? name : '',
      api: vendor?.api ?? 'chat-completions',
      baseURL: withVersion(vendor?.id, baseURL),
      models: rows,
      ...(Object.keys(uses).length === 0 ? {} : { uses }),
    });
  };
  for (const [name, value] of Object.entries(vendors)) add(name, value, true);
  for (const [name, value] of Object.entries(readFields(compatible))) add(name, value, false);
  if (providers.length > 0) notes.push('The keys are in Zed’s key store. Enter them here.');
  return { providers, notes };
}

/** Zed writes the addresses of Anthropic and of local servers without `/v1`. */
function withVersion(vendor: string | undefined, address: string): string {
  const trimmed = withoutTrailing(local(vendor, address), '/');
  const needs = vendor === 'anthropic' || vendor === 'llamacpp';
  return needs && !/\/v1$/.test(trimmed) ? `${trimmed}/v1` : trimmed;
}
