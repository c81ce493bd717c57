import { createRoot } from 'react-dom/client';
import { useTranscript } from './use-transcript.ts';

function App() {
  const { state, lines, now, notice, problem, start, stop } = useTranscript('/session');
  const mayStop = state === 'opening' || state === 'listening';
  return (
    <main>
      <button type="button" disabled={state !== 'idle'} onClick={() => void start()}>
        Start
      </button>
      <button type="button" disabled={!mayStop} onClick={() => void stop()}>
        Stop
      </button>
      <ol>
        {lines.map((line, at) => (
          <li key={`${at} ${line}`}>{line}</li>
        ))}
      </ol>
      <p aria-live="polite">{now}</p>
      <p role="status">{notice ?? state}</p>
      {problem === null ? null : <p role="alert">{problem}</p>}
    </main>
  );
}

const root = document.querySelector('#root');
if (root !== null) createRoot(root).render(<App />);
