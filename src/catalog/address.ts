import { nearMisses } from '../base/near-miss.ts';
import { withoutTrailing } from '../base/text.ts';
import type { ModelSettings } from '../config/settings/configured-model.ts';
import { DEFAULT_NPM } from '../config/settings/defaults.ts';
import type { ProviderSettings } from '../config/settings/settings.ts';
import { type MessageText, msg } from '../wire/errors/svc-error.ts';
import { FIM_DIALECTS, type FimDialect } from '../wire/fim/fim-request.ts';
import type { FormatName } from '../wire/format-name.ts';
import type { ProviderKind } from './model.ts';
import { vendorAddress } from './ollama-address.ts';
import { type CatalogData, type CatalogModel, type CatalogProvider, catalogProvider } from './public/catalog.ts';
import { findVendor, PACKAGES, VENDOR_ORIGINS, VENDORS, type Vendor } from './vendors.ts';

/** Only this many characters of a model id are matched: some of the patterns take quadratic time. */
export const MAX_MATCHED_ID = 256;

/** Resolved base URL and wire format. Contains no secrets. */
export interface Address {
  readonly kind: ProviderKind;
  readonly format: FormatName;
  readonly npm: string;
  readonly baseURL?: string | undefined;
  readonly fimURL?: string | undefined;
  /** The FIM dialect in the configuration. */
  readonly fim?: FimDialect | undefined;
  /** The vendor's documented FIM dialect. */
  readonly knownFim?: FimDialect | undefined;
  readonly problem?: MessageText | undefined;
}

export interface AddressRequest {
  readonly id: string;
  /** Absent: resolve the address from the catalog only. */
  readonly provider?: ProviderSettings | undefined;
  readonly model?: ModelSettings | undefined;
  /** The model id in upstream requests. */
  readonly modelId?: string | undefined;
  readonly catalogModel?: CatalogModel | undefined;
  readonly catalog: CatalogData;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Resolves the address of a provider or of one of its models. Settings override the catalog, and the catalog overrides
 * the vendor table.
 */
export function resolveAddress(question: AddressRequest): Address {
  const { id, provider, model, catalogModel, catalog } = question;
  const listed = catalogProvider(catalog, id);
  const configured = model?.provider?.api?.value ?? provider?.baseURL?.value ?? provider?.api?.value;
  const vendor = findVendor(id) ?? vendorAt(configured);
  const npm =
    model?.provider?.npm?.value ??
    provider?.npm?.value ??
    (configured === undefined ? catalogModel?.npm : undefined) ??
    listed?.npm ??
    vendor?.npm ??
    DEFAULT_NPM;
  const speech = PACKAGES.get(npm);
  const kind = resolveKind(speech?.kind ?? 'openai-compatible', vendor);
  const base = resolveBase(question, configured, kind, listed, vendor);
  const fim = dialectNamed(provider?.fim?.value);
  const vendorFim = configured === undefined ? vendor?.fim?.url : undefined;
  const fimURL = provider?.fimURL?.value ?? (vendorFim && vendorAddress(id, vendorFim, question.env));
  const hidden = model?.provider?.npm?.reference ?? provider?.npm?.reference;
  const problem = speech === undefined ? unknownPackage(hidden ? '…' : npm) : base.problem;
  return {
    kind,
    format: resolveFormat(speech?.format ?? 'chat-completions', kind, question, base.url),
    npm,
    baseURL: trimmed(base.url),
    fimURL: trimmed(fimURL),
    fim,
    knownFim: vendor?.fim?.dialect,
    problem,
  };
}

let lastOrigin: { readonly of: string; readonly is: string | undefined } | undefined;

/**
 * The origin (`https://host:port`) of an address, `undefined` if the address is invalid. The last result is cached,
 * because callers often repeat the same address.
 */
export function addressOrigin(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  if (lastOrigin?.of === address) return lastOrigin.is;
  const origin = URL.parse(address)?.origin;
  lastOrigin = { of: address, is: origin === 'null' ? undefined : origin };
  return lastOrigin.is;
}

function trimmed(address: string | undefined): string | undefined {
  return address === undefined ? undefined : withoutTrailing(address, '/');
}

/** The vendor that has this default address. */
function vendorAt(address: string | undefined): Vendor | undefined {
  const origin = addressOrigin(address);
  if (origin === undefined) return undefined;
  const id = VENDOR_ORIGINS.get(origin);
  return id === undefined ? undefined : VENDORS.get(id);
}

/** The vendor's kind is used only for the generic package. */
function resolveKind(kind: ProviderKind, vendor: Vendor | undefined): ProviderKind {
  return kind === 'openai-compatible' ? (vendor?.kind ?? kind) : kind;
}

/** Models that Azure serves in the Responses format only (learn.microsoft.com, "Responses API"). */
const RESPONSES_ONLY = /codex|-pro$/i;
/**
 * "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions"
 * (openai/openai-openapi#541, can1357/oh-my-pi#11052).
 */
const TOOLS_IN_RESPONSES = /^gpt-(?:5\.[4-9]|[6-9])/i;

/** A deployment may have any name: then the key of the model says what it is. Addresses by deployment have no Responses. */
function resolveFormat(
  format: FormatName,
  kind: ProviderKind,
  { modelId = '', model, provider }: AddressRequest,
  base = '',
): FormatName {
  if (kind !== 'azure') return format;
  const byDeployment = provider?.options?.useDeploymentBasedUrls === true || base.includes('/openai/deployments');
  const ids = [modelId, model?.key ?? ''];
  const inResponses = (id: string): boolean =>
    RESPONSES_ONLY.test(id) || (!byDeployment && TOOLS_IN_RESPONSES.test(id));
  return ids.some(inResponses) ? 'responses' : format;
}

interface Base {
  readonly url?: string;
  readonly problem?: MessageText;
}

function resolveBase(
  question: AddressRequest,
  configured: string | undefined,
  kind: ProviderKind,
  listed: CatalogProvider | undefined,
  vendor: Vendor | undefined,
): Base {
  if (configured !== undefined) {
    if (configured.includes('$' + '{')) {
      return { problem: msg('`{0}` is not expanded in an address; write {env:NAME}.', '$' + '{…}') };
    }
    return addressOrigin(configured) === undefined
      ? { problem: msg('The address is not a valid URL.') }
      : { url: configured };
  }
  if (kind === 'azure') return azureBase(question);
  const known = vendor?.base && vendorAddress(question.id, vendor.base, question.env);
  const template = question.catalogModel?.api ?? listed?.api ?? known;
  if (template !== undefined) return expand(template, question.env);
  return { problem: msg('The address of `{0}` is not known. Set `options.baseURL`.', question.id) };
}

/** Each Azure resource has its own host (learn.microsoft.com, "v1 API"). */
function azureBase({ id, provider, env }: AddressRequest): Base {
  const variable = id === 'azure' ? env.AZURE_RESOURCE_NAME : undefined;
  const resource = provider?.resourceName?.value ?? variable;
  if (resource === undefined || !/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(resource)) {
    return { problem: msg('Set `options.resourceName` to the name of your Azure resource, or `options.baseURL`.') };
  }
  return { url: `https://${resource}.openai.azure.com/openai/v1` };
}

/**
 * Replaces variables in an address of the catalog. They may contain an account id, a region or a host name, but no
 * other part of a URL.
 */
function expand(template: string, env: AddressRequest['env']): Base {
  let missing: string | undefined;
  const url = template.replaceAll(/\$\{(\w+)\}/g, (_token, name: string) => {
    const value = env[name];
    if (value === undefined || !/^[\w-]+(\.[\w-]+)*$/.test(value)) missing ??= name;
    return value ?? '';
  });
  return missing === undefined
    ? { url }
    : { problem: msg('Set the environment variable {0}, or `options.baseURL`.', missing) };
}

function unknownPackage(npm: string): MessageText {
  // A name that goes on is another package (`@ai-sdk/google-vertex`), not a near miss.
  const near = nearMisses(npm, PACKAGES.keys()).find((name) => !npm.startsWith(`${name}-`));
  return near === undefined
    ? msg(
        'Svc does not support the format of `{0}`. If the provider has an OpenAI-compatible address, set `npm` to `{1}` and `options.baseURL` to that address.',
        npm,
        DEFAULT_NPM,
      )
    : msg(
        'Svc does not support the format of `{0}`. Did you mean `{1}`? If the provider has an OpenAI-compatible address, set `npm` to `{2}` and `options.baseURL` to that address.',
        npm,
        near,
        DEFAULT_NPM,
      );
}

function dialectNamed(name: string | undefined): FimDialect | undefined {
  return FIM_DIALECTS.find((dialect) => dialect === name);
}
