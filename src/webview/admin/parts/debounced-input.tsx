import { useEffect, useRef } from 'preact/hooks';
import { defined } from '../../../base/json.ts';

const WAIT_MS = 250;

export interface DebouncedInputProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Suggested values. */
  readonly list?: string;
}

/** A filter. It reports its text when the user stops typing, and at once with Enter. */
export function DebouncedInput({ label, value, onValue, list }: DebouncedInputProps) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  useEffect(() => {
    // The address has changed by other means. The text that the user types is not replaced.
    if (input.current && document.activeElement !== input.current) input.current.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const report = () => {
    clearTimeout(timer.current);
    const text = input.current?.value.trim() ?? '';
    if (text !== value) onValue(text);
  };
  return (
    <label class="filter">
      <span>{label}</span>
      <input
        ref={input}
        type="search"
        defaultValue={value}
        autocomplete="off"
        spellcheck={false}
        {...defined({ list })}
        onInput={() => {
          clearTimeout(timer.current);
          timer.current = setTimeout(report, WAIT_MS);
        }}
        onBlur={report}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.isComposing) report();
        }}
      />
    </label>
  );
}
