/** A request as the scripted model sees it, whatever its format. */
export interface ModelRequest {
  readonly tools: readonly OfferedTool[];
  /** The calls of each assistant turn that has calls, in order. */
  readonly turns: readonly (readonly SeenCall[])[];
  /** Text of the results by id of the call. */
  readonly results: ReadonlyMap<string, string>;
  /** The model shall think first. */
  readonly thinks: boolean;
  /** The client receives the text of the thinking. */
  readonly showsThinking: boolean;
  /** The opaque form of the thinking is requested. */
  readonly seals: boolean;
  /** The model may make several calls in one turn. */
  readonly parallel: boolean;
  readonly stream: boolean;
  readonly streamedUsage: boolean;
}

export interface OfferedTool {
  readonly name: string;
  /** A custom tool: its input is text. */
  readonly custom: boolean;
  readonly namespace?: string;
}

export interface SeenCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as they arrived: JSON text, or the text of a custom tool. */
  readonly input: string;
  /** The turn contains the thinking that preceded the call. */
  readonly afterThinking: boolean;
}

/** Opaque texts and item ids that a simulated vendor has issued. */
export interface Issued {
  readonly seals: ReadonlySet<string>;
  readonly items: ReadonlyMap<string, IssuedItem>;
}

export interface IssuedItem {
  readonly item: Readonly<Record<string, unknown>>;
  /** The reasoning item that must precede it. */
  readonly reasoning?: string;
  readonly stored: boolean;
}
