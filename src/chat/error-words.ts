/**
 * What our errors say, so that a face can say it in the person's language: `{0}` and `{1}` stand for what differs –
 * names, figures, and the words of a provider, which stay as they came. Longer ones before those that they hold.
 */
export const SENTENCES: readonly string[] = [
  // wire: what a provider answered
  'The request is larger than the model’s context window: the maximum context length is {0} tokens. {1}',
  'The request is larger than the model’s context window: the maximum context length is {0} tokens.',
  'The request is larger than the model’s context window. {0}',
  'The request is larger than the model’s context window.',
  'Shorten the conversation or choose a model with a larger context window.',
  'Your account at {0} is out of funds: {1}',
  'Add funds at the provider or choose another model.',
  'The provider is temporarily unavailable.',
  'Check the API key of this provider.',
  'Check what this key may use, or choose another model.',
  'Check the model’s id and the base URL.',
  'The provider answered with status {0} and no explanation.',
  '{0} answered with status {1} and no explanation.',
  'The provider ended the answer: {0}.',
  'The provider sent an event that is not JSON: {0}',
  'The provider sent a single event larger than 64 MB.',
  'The provider sent a tool call without a name.',
  'The provider’s answer is not a completion.',
  "{0} can't complete code. Use a Codestral (Mistral) or Mercury (Inception) model.",
  // wire: what can't be said in a format
  'A recording must be sent with its data.',
  "An image kept at another vendor can't be sent to this model.",
  'This model takes files as data, not by URL (Chat Completions has no file URL).',
  'This model can’t be sent recordings (Messages has no audio).',
  'This model can’t be sent files of type {0}: only PDF and text.',
  'Something failed inside Svc.',
  // provider: the way to it
  '{0} refused the connection ({1}).',
  '{0} could not be found (DNS) ({1}).',
  '{0} could not be looked up (DNS) ({1}).',
  '{0} reset the connection ({1}).',
  '{0} closed the connection ({1}).',
  '{0} did not accept the connection in time ({1}).',
  '{0} did not answer in time ({1}).',
  '{0} stopped answering ({1}).',
  '{0} can’t be reached: no network ({1}).',
  '{0} can’t be reached ({1}).',
  '{0} uses a certificate that is not trusted ({1}).',
  '{0} uses a certificate that has expired ({1}).',
  '{0} uses a certificate of another name ({1}).',
  '{0} has a TLS problem ({1}).',
  '{0} could not be reached ({1}).',
  '{0} could not be reached.',
  'Add your company’s certificate with NODE_EXTRA_CA_CERTS.',
  'Check the network and the base URL.',
  'The provider closed the connection before the answer was complete.',
  'The provider closed the connection before it said anything.',
  'The provider did not answer within {0}.',
  'The provider sent nothing for {0}.',
  'Try again, or raise `timeout` or `chunkTimeout` of this provider.',
  '{0} redirects to an invalid address; the request was not sent there.',
  '{0} redirects to itself again and again; the request was not sent there.',
  '{0} redirects to {1}; the request was not sent there.',
  'Set the base URL to the address that answers.',
  'The provider’s answer is larger than 64 MB.',
  '{0} answered in the encoding {1}, which was not asked for.',
  'The provider’s answer is not JSON ({0}): {1}',
  'Check the base URL of this provider.',
  'The address does not answer with a list of models.',
  'Check the base URL, or enter the models by hand.',
  'Cancelled.',
  // provider: what it can't be asked
  'The provider has no base URL.',
  'The base URL "{0}" is not an http address.',
  '"{0}" can\'t be the name of a header.',
  "The header {0} has a character that headers can't hold.",
  'Correct it in svc.jsonc.',
  '{0} has no variant "{1}" (it has: {2}).',
  "{0} can't call tools. If it can, set `tool_call` to true for it in svc.jsonc.",
  '{0} does not take images. If it does, say so in its `modalities` in svc.jsonc.',
  '{0} does not take files. If it does, say so in its `modalities` in svc.jsonc.',
  '{0} does not take recordings. If it does, say so in its `modalities` in svc.jsonc.',
  // catalog: which model, and where it is
  'There is no model {0}. Did you mean {1}?',
  'There is no model {0}.',
  '{0} cannot complete code. Did you mean {1}?',
  '{0} cannot complete code.',
  'Run `svc models` for those that are available.',
  'Svc does not speak the format of `{0}`. Did you mean `{1}`? Where the provider has an OpenAI-compatible address, set `npm` to `{2}` and `options.baseURL` to it.',
  'Svc does not speak the format of `{0}`. Where the provider has an OpenAI-compatible address, set `npm` to `{1}` and `options.baseURL` to it.',
  '`{0}` is not expanded in an address; write {env:NAME}.',
  'The address is not a valid URL.',
  'It is not known where `{0}` is; set `options.baseURL`.',
  'Set `options.resourceName` to the name of your Azure resource, or `options.baseURL`.',
  'Set the environment variable {0}, or `options.baseURL`.',
  // chat
  'No model is set up yet.',
  'Add a provider, or set a key, then send again.',
  'The model reached its output limit before it was done.',
  'Select less, or raise `limit.output` for this model.',
];

/** Gives a text in the person's language; values take the places `{0}`, `{1}`. */
type Translate = (text: string, ...values: readonly string[]) => string;

/** Longer texts stay as they are: a pattern with several values takes more than linear time. */
const MAX_TEXT = 4000;

/** One of our errors' texts, by `translate`; what nobody here wrote comes back as it is. */
export function errorWords(text: string, translate: Translate): string {
  if (text.length > MAX_TEXT) return text;
  for (const sentence of SENTENCES) {
    const values = valuesOf(sentence, text);
    if (values) return translate(sentence, ...values);
  }
  return text;
}

function valuesOf(sentence: string, text: string): readonly string[] | undefined {
  const parts = sentence.split(/\{\d\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('(.+?)')}$`, 's').exec(text)?.slice(1);
}
