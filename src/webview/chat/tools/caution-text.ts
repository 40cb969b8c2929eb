import type { Caution } from '../../../chat/message-parts.ts';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import { t } from '../../shared/words.ts';

/** Why a call needs approval each time. */
export function cautionText({ kind, path }: Caution): string {
  const name = showUnseen(path);
  switch (kind) {
    case 'secret':
      return t('Needs confirmation each time: {0} may contain secrets.', name);
    case 'git':
      return t('Needs confirmation each time: {0} is read by Git or its hooks and can make them run programs.', name);
    case 'editor':
      return t('Needs confirmation each time: {0} controls an editor and can make it run programs.', name);
    case 'workflow':
      return t('Needs confirmation each time: {0} controls what a build server runs.', name);
    case 'settings':
      return t('Needs confirmation each time: {0} controls which providers and keys Svc uses.', name);
    case 'shell':
      return t('Needs confirmation each time: {0} is read by shells and can make them run programs.', name);
    case 'package':
      return t('Needs confirmation each time: {0} can make a package manager run programs.', name);
    case 'build':
      return t('Needs confirmation each time: {0} can make a build, a test or an editor run programs.', name);
    case 'agent':
      return t('Needs confirmation each time: {0} instructs models or controls other agents.', name);
  }
}
