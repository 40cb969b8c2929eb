import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../../shared/words.ts';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** A dialog that the user must answer: Escape does not close it. */
  readonly locked?: boolean;
  /** For tables. */
  readonly large?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus inside and returns it when the dialog closes. */
export function Dialog({ title, onClose, locked = false, large = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Not after the next frame: a key that follows the click at once is meant for the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // The browser would choose the button that closes the dialog.
    dialog.current?.querySelector<HTMLElement>('form :is(input, select)')?.focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={large ? 'large' : undefined}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        if (!locked) onClose();
      }}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        {locked ? null : (
          <button type="button" class="quiet" aria-label={t('Close')} onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}

/** The buttons at the end of a dialog's form. */
export function DialogButtons(props: { action: string; danger?: boolean; busy?: boolean; onCancel: () => void }) {
  return (
    <footer>
      <button type="button" onClick={props.onCancel}>
        {t('Cancel')}
      </button>
      <button type="submit" class={props.danger ? 'danger' : 'primary'} disabled={props.busy}>
        {props.action}
      </button>
    </footer>
  );
}
