import { useNavigate } from '@liaozhai/shared/runtime';
import { useLayoutEffect, useRef } from 'react';

interface DrawnContentProps {
  route: string;
  content: readonly Node[];
}

/** The path a plain tap on one of the app's links leads to; null for anything the browser should do itself. */
function tappedPath(event: MouseEvent): string | null {
  const link = (event.target as Element).closest('a');
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  return link && isPlain && link.origin === location.origin ? link.pathname + link.search : null;
}

/** What the server drew, as it stood there, its links followed inside the app. */
export function DrawnContent({ route, content }: DrawnContentProps) {
  const place = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    element.append(...content);
    const follow = (event: MouseEvent) => {
      const path = tappedPath(event);
      if (path === null) return;
      event.preventDefault();
      void navigate(path);
    };
    element.addEventListener('click', follow);
    return () => element.removeEventListener('click', follow);
  }, [content, navigate]);
  return <div ref={place} data-first={route} />;
}
