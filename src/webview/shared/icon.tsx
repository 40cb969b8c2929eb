/** A decorative codicon. The text beside it, or the label of its button, states the meaning. */
export function Icon({ name, spin = false }: { name: string; spin?: boolean }) {
  return <span class={`codicon codicon-${name}${spin ? ' codicon-modifier-spin' : ''}`} aria-hidden="true" />;
}

export function IconButton(props: {
  icon: string;
  name: string;
  title?: string;
  disabled?: boolean;
  onClick: () => void;
}) {
  const { icon, name, title = name, disabled = false, onClick } = props;
  return (
    <button type="button" class="icon" aria-label={name} title={title} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
