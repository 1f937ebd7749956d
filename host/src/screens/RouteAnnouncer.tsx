import { VisuallyHidden } from '@liaozhai/shared/ui';
import { useState } from 'react';

/** Tells a screen reader which screen came into sight; the first one is told by the document itself. */
export function RouteAnnouncer({ title }: { title: string }) {
  const [last, setLast] = useState({ title, said: '' });
  if (title !== last.title) setLast({ title, said: title });
  return <VisuallyHidden role="status">{last.said}</VisuallyHidden>;
}
