import { useState, type DragEvent } from 'react';
import { useTexts } from '../../app/language.tsx';
import { Icon } from '../../design/icons.tsx';

/** A drop zone for files. Keyboards and screen readers use its file input. */
export function DropZone(props: { disabled: boolean; onFile: (file: File) => void }) {
  const texts = useTexts();
  const [over, setOver] = useState(false);
  function drop(event: DragEvent): void {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file !== undefined && !props.disabled) props.onFile(file);
  }
  return (
    <label
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={`grid justify-items-center gap-1.5 rounded-md border border-dashed p-4 text-center text-sm has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent ${over ? 'border-accent bg-accent-soft' : 'border-edge'} ${props.disabled ? 'opacity-60' : 'hover:bg-muted'}`}
    >
      <Icon name="upload" />
      <span className="font-medium">{texts.playground.drop}</span>
      <span className="text-xs text-ink-3">{texts.playground.dropHint}</span>
      <input
        type="file"
        accept="audio/*,video/webm,.wav,.mp3,.m4a,.ogg,.opus"
        disabled={props.disabled}
        className="sr-only"
        onChange={(event) => {
          const file = event.target.files?.[0];
          // Lets the user choose the same file again.
          event.target.value = '';
          if (file !== undefined) props.onFile(file);
        }}
      />
    </label>
  );
}
