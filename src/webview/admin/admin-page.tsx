import { signal } from '@preact/signals';
import { render } from 'preact';
import { Address } from './data/address.ts';
import { AdminApi } from './data/admin-api.ts';
import { Admin, AdminContext } from './data/admin-context.ts';
import { openSession, type SessionState } from './data/open-session.ts';
import { Login } from './views/login.tsx';
import { Shell } from './views/shell.tsx';

const REFRESH_MS = 60_000;

const session = signal<SessionState>({ kind: 'opening' });
const api = new AdminApi(() => {
  const ended = session.peek().kind === 'open';
  session.value = { kind: 'closed', ...(ended ? { reason: 'ended' } : {}) };
});
const admin = new Admin(new Address(), api);

function Page() {
  const state = session.value;
  return (
    <AdminContext.Provider value={admin}>
      {state.kind === 'open' ? (
        <Shell session={state.session} />
      ) : state.kind === 'closed' ? (
        <Login
          reason={state.reason}
          onOpen={(opened) => {
            session.value = { kind: 'open', session: opened };
          }}
        />
      ) : null}
    </AdminContext.Provider>
  );
}

setInterval(() => {
  if (document.visibilityState === 'visible' && session.value.kind === 'open') admin.refresh();
}, REFRESH_MS);
document.body.replaceChildren();
render(<Page />, document.body);
void openSession(api).then((opened) => {
  session.value = opened;
});
