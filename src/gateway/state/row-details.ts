import { arrayOrEmpty, defined, objectOrEmpty, parseJson, tokenCount } from '../../base/json.ts';
import { ESTIMATE_REASONS, type EstimateReason } from '../../protocol/admin-api/estimate-reason.ts';
import type { Usage } from '../../wire/event.ts';

/** The part of a row that few rows have. It is one column of the ledger, as JSON. */
interface RowDetails {
  readonly estimateReason?: EstimateReason;
  readonly usage: Pick<Usage, 'inputAudio' | 'outputAudio' | 'outputImage' | 'served' | 'calls'>;
}

/** @returns undefined if the row has no details. */
export function writeDetails({
  estimateReason,
  usage,
}: {
  readonly estimateReason?: EstimateReason | undefined;
  readonly usage: RowDetails['usage'] | undefined;
}): string | undefined {
  const details = defined({
    estimated: estimateReason,
    input_audio: usage?.inputAudio,
    output_audio: usage?.outputAudio,
    output_image: usage?.outputImage,
    served: usage?.served,
    calls: usage?.calls,
  });
  return Object.keys(details).length === 0 ? undefined : JSON.stringify(details);
}

export function readDetails(text: unknown): RowDetails {
  const details = objectOrEmpty(typeof text === 'string' ? parseJson(text) : undefined);
  const served = arrayOrEmpty(details.served).filter((name) => typeof name === 'string');
  const calls = Object.entries(objectOrEmpty(details.calls)).flatMap(([name, value]) => {
    const count = tokenCount(value);
    return count === undefined ? [] : [[name, count] as const];
  });
  return {
    ...defined({ estimateReason: ESTIMATE_REASONS.find((reason) => reason === details.estimated) }),
    usage: defined({
      inputAudio: tokenCount(details.input_audio),
      outputAudio: tokenCount(details.output_audio),
      outputImage: tokenCount(details.output_image),
      served: served.length > 0 ? served : undefined,
      calls: calls.length > 0 ? Object.fromEntries(calls) : undefined,
    }),
  };
}
