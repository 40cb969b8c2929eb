import { type Signal, useSignal } from '@preact/signals';
import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import { ADMIN_SCOPES, type IssuedKey, type Key, type Session } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Dialog, DialogButtons } from '../parts/dialog.tsx';
import { useChange } from '../parts/use-change.ts';
import { emptyLimits, type LimitDraft, LimitFields, limitsOf, readLimits } from './limit-fields.tsx';

interface IssueProps {
  readonly onClose: () => void;
  readonly onIssued: (issued: IssuedKey) => void;
}

export function CreateKey({ session, onClose, onIssued }: IssueProps & { session: Session }) {
  const { api, clock } = useAdmin();
  const change = useChange();
  const draft = useSignal({ name: '', user: '', organization: '', admin: '', expires: '' });
  const ownKey = useSignal('');
  const limits = useSignal<LimitDraft>(emptyLimits());
  const organizations = useAnswer(ENDPOINTS.listOrganizations);
  const field = (name: keyof typeof draft.value, label: string, more: Record<string, unknown> = {}) => (
    <label class="field">
      <span>{label}</span>
      <input
        value={draft.value[name]}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          draft.value = { ...draft.value, [name]: event.currentTarget.value };
        }}
        {...more}
      />
    </label>
  );
  const create = async () => {
    const { name, user, organization, admin, expires } = draft.value;
    const body = {
      name: name.trim(),
      ...(user.trim() === '' ? {} : { user: user.trim() }),
      ...(organization.trim() === '' ? {} : { organization: organization.trim() }),
      ...(admin === '' ? {} : { admin, confirm_key: ownKey.value.trim() }),
      ...(expires === '' ? {} : { expires_at: endOfDay(expires, clock.value.zone) }),
      ...readLimits(limits.value, clock.value.zone.name),
    };
    onIssued(await api.call(ENDPOINTS.createKey, { body }));
  };
  return (
    <Dialog title={t('Create key')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void change.run(create);
        }}
      >
        {field('name', t('Name'), { required: true, pattern: '[\\w.@\\-]{1,100}', title: NAME_RULE() })}
        {field('user', t('User (optional)'), { pattern: '[\\w.@\\-]{1,100}', title: NAME_RULE() })}
        {field('organization', t('Organization (optional)'), { list: 'organizations' })}
        <datalist id="organizations">
          {organizations.value?.data.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </datalist>
        {field('expires', t('Last valid day (optional)'), { type: 'date', min: clock.value.date(Date.now()) })}
        {session.scope === 'all' ? (
          <label class="field">
            <span>{t('Access to this page')}</span>
            <select
              value={draft.value.admin}
              onChange={(event) => {
                draft.value = { ...draft.value, admin: event.currentTarget.value };
              }}
            >
              <option value="">{t('Own usage only')}</option>
              {ADMIN_SCOPES.map((scope) => (
                <option key={scope} value={scope}>
                  {scopeTitle(scope)}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        {draft.value.admin === '' ? null : <ConfirmKey value={ownKey} />}
        <LimitFields draft={limits} />
        <Problem text={change.problem} />
        <DialogButtons action={t('Create')} busy={change.busy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** A session alone must not make a key that outlasts it. */
function ConfirmKey({ value }: { value: Signal<string> }) {
  return (
    <label class="field">
      <span>{t('Your key (required for an admin key)')}</span>
      <input
        type="password"
        autocomplete="off"
        required
        value={value.value}
        onInput={(event) => {
          value.value = event.currentTarget.value;
        }}
      />
    </label>
  );
}

const NAME_RULE = () => t('1 to 100 letters, digits, dots, hyphens, underscores or @');

function scopeTitle(scope: (typeof ADMIN_SCOPES)[number]): string {
  switch (scope) {
    case 'read':
      return t('Sees everything');
    case 'keys':
      return t('Sees everything, changes keys');
    case 'all':
      return t('Sees and changes everything');
  }
}

/** The moment at which a day of the time zone in sight ends. */
function endOfDay(date: string, zone: { dayStart(year: number, month: number, day: number): number }): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  return new Date(zone.dayStart(year, month - 1, day + 1)).toISOString();
}

export function KeyLimits({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const { api, clock } = useAdmin();
  const change = useChange();
  const limits = useSignal<LimitDraft>(limitsOf(key));
  const save = async () => {
    const body = readLimits(limits.value, clock.value.zone.name);
    await api.call(ENDPOINTS.changeKey, { params: { name: key.name }, body });
    onClose();
  };
  return (
    <Dialog title={t('Limits of {0}', key.name)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void change.run(save);
        }}
      >
        <LimitFields draft={limits} />
        <Problem text={change.problem} />
        <DialogButtons action={t('Save')} busy={change.busy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

const GRACES = ['0', '1h', '24h', '7d'] as const;

export function RotateKey({ of: key, onClose, onIssued }: IssueProps & { of: Key }) {
  const { api } = useAdmin();
  const change = useChange();
  const grace = useSignal('24h');
  const ownKey = useSignal('');
  const rotate = async () => {
    const confirmed = key.admin === null ? {} : { confirm_key: ownKey.value.trim() };
    const body = { grace: grace.value, ...confirmed };
    onIssued(await api.call(ENDPOINTS.rotateKey, { params: { name: key.name }, body }));
  };
  return (
    <Dialog title={t('Rotate {0}', key.name)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void change.run(rotate);
        }}
      >
        <p>{t('The key gets a new secret. Programs that use the old one need the new one in this time.')}</p>
        <label class="field">
          <span>{t('The old secret stays valid for')}</span>
          <select
            value={grace.value}
            onChange={(event) => {
              grace.value = event.currentTarget.value;
            }}
          >
            {GRACES.map((each) => (
              <option key={each} value={each}>
                {graceTitle(each)}
              </option>
            ))}
          </select>
        </label>
        {key.admin === null ? null : <ConfirmKey value={ownKey} />}
        <Problem text={change.problem} />
        <DialogButtons action={t('Rotate')} busy={change.busy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

function graceTitle(grace: (typeof GRACES)[number]): string {
  switch (grace) {
    case '0':
      return t('No time');
    case '1h':
      return t('1 hour');
    case '24h':
      return t('24 hours');
    case '7d':
      return t('7 days');
  }
}

export function RevokeKey({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const { api } = useAdmin();
  const change = useChange();
  const cut = useSignal(false);
  const revoke = async () => {
    await api.call(ENDPOINTS.revokeKey, { params: { name: key.name }, body: { cut: cut.value } });
    onClose();
  };
  return (
    <Dialog title={t('Revoke {0}?', key.name)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void change.run(revoke);
        }}
      >
        <p>{t('Requests with this key are refused at once. A revoked key can’t be used again.')}</p>
        <label class="check">
          <input
            type="checkbox"
            checked={cut.value}
            onChange={(event) => {
              cut.value = event.currentTarget.checked;
            }}
          />
          <span>{t('Also end its running requests')}</span>
        </label>
        <Problem text={change.problem} />
        <DialogButtons action={t('Revoke')} danger busy={change.busy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** The only view of a secret. It is forgotten when the dialog closes. */
export function NewSecret({ issued, onClose }: { issued: IssuedKey; onClose: () => void }) {
  const copied = useSignal<'no' | 'yes' | 'failed'>('no');
  const copy = () => {
    navigator.clipboard.writeText(issued.secret).then(
      () => {
        copied.value = 'yes';
      },
      () => {
        copied.value = 'failed';
      },
    );
  };
  return (
    <Dialog title={t('Secret of {0}', issued.key.name)} onClose={onClose} locked>
      <p>{t('Copy the secret now. It can’t be shown again.')}</p>
      <p class="secret">
        <code>{issued.secret}</code>
      </p>
      <p role="status" class="hint">
        {copied.value === 'yes' ? t('Copied.') : ''}
        {copied.value === 'failed' ? t('The browser did not allow it. Select the secret and copy it.') : ''}
      </p>
      <footer>
        <button type="button" class="primary" onClick={copy}>
          {t('Copy')}
        </button>
        <button type="button" onClick={onClose}>
          {t('Done')}
        </button>
      </footer>
    </Dialog>
  );
}

function Problem({ text }: { text: string }) {
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
