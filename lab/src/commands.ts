/** Names of the commands of this extension. */

export const CATEGORY = 'diffnb';

export const COMMANDS = {
  show: 'diffnb:show',
  openTutorial: 'diffnb:open-tutorial',
  newAnalysis: 'diffnb:new-analysis',
  exploreFile: 'diffnb:explore-file'
} as const;
