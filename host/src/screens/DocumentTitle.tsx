import { useLayoutEffect } from 'react';

const appName = '聊斋';

/** Gives the document the title of the route in sight. */
export function DocumentTitle({ title }: { title: string }) {
  useLayoutEffect(() => {
    document.title = `${title} · ${appName}`;
  }, [title]);
  return null;
}
