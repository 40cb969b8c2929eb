import { parseRule } from '../../../chat/permissions/rule-syntax.ts';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import { t } from '../../shared/words.ts';

/** The scope of a lasting permission, in words. */
export function ruleText(text: string): string {
  const rule = parseRule(text);
  const value = showUnseen(rule?.value ?? text);
  switch (rule?.kind) {
    case 'edit':
      return value === '**' ? t('changes of all files') : t('changes of {0}', value);
    case 'delete':
      return value === '**' ? t('deletion of all files') : t('deletion of {0}', value);
    case 'read':
      return value === '**' ? t('reading of all files') : t('reading of {0}', value);
    case 'tool':
      return value.slice(value.lastIndexOf('/') + 1).replace(/#[\da-f]+$/, '');
    default:
      return value;
  }
}
