import type { ReactNode, SVGProps } from 'react';

/** An icon as lucide-react's modules list it. */
interface IconData {
  name: string;
  node: [tag: string, attributes: Record<string, string>][];
}

interface IconProps extends SVGProps<SVGSVGElement> {
  size?: number | string;
}

declare function createIcon(icon: IconData): (props: IconProps) => ReactNode;

export { createIcon as default };
