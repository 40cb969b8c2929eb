import type { Task } from '../../../chat/message-parts.ts';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';

const ICONS: Readonly<Record<Task['state'], string>> = {
  open: 'circle-large-outline',
  active: 'arrow-circle-right',
  done: 'pass-filled',
};

/** The tasks that the model works on. */
export function TaskList({ tasks }: { tasks: readonly Task[] }) {
  const names = { open: t('Open'), active: t('In progress'), done: t('Done') };
  return (
    <ul class="tasks">
      {tasks.map(({ title, state }, index) => (
        <li key={`${index} ${title}`} class={state}>
          <Icon name={ICONS[state]} />
          <span class="unseen">{names[state]}: </span>
          <span>{showUnseen(title)}</span>
        </li>
      ))}
    </ul>
  );
}
